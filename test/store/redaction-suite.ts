// The redactions of every store: which texts they replace and when they are refused. Each database has its own tests for the bytes.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { beginAnother, regeneration } from './line-samples.ts';
import { newId, newProject, once, search, snippets, startOfTime, turnReply } from './store-samples.ts';
import { begin, beginWithEndedLease } from './turn-steps.ts';

const secret = 'canary';
const everything = { limit: 200, after: null };

export function describeRedactions(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: redactions`, () => {
    async function textsOf(store: SessionStore, project: string) {
      const turn = await begin(store, project, {
        content: `my ${secret} is`,
        idempotencyKey: once('turn'),
        newSession: { session_id: newId('ses'), title: `about ${secret}`, system: secret },
      });
      await store.endTurn(project, turn, turnReply({ content: `${secret} kept` }));
      const again = await beginAnother(store, project, regeneration(turn.session_id));
      await store.endTurn(project, again, turnReply({ content: 'other words' }));
      return turn.session_id;
    }
    const all = async (store: SessionStore, project: string, id: string) =>
      (await store.listAllMessages(project, id, everything))?.items ?? [];
    const changesOf = async (store: SessionStore, project: string, id: string) => ({
      messages: (await all(store, project, id))
        .filter(({ content }) => content.includes(secret))
        .map(({ message_id, content: was }) => ({
          ...{ message_id, was },
          content: was.replace(secret, '[redacted x]'),
        })),
      changes: { title: 'about [redacted x]', system: null },
    });

    it('replace texts of visible and hidden messages, title and settings, and the search follows', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await textsOf(store, project);
      const before = await store.findSession(project, id);
      expect(await snippets(store, project, secret)).not.toEqual([]);
      const redaction = await changesOf(store, project, id);
      expect(redaction.messages).toHaveLength(2);
      expect(await (await store.redactions()).redact(project, id, redaction)).toEqual({ kind: 'redacted' });
      expect((await all(store, project, id)).map(({ content }) => content).sort()).toEqual(
        ['[redacted x] kept', 'my [redacted x] is', 'other words'].sort(),
      );
      expect(await store.findSession(project, id)).toEqual({
        ...before,
        title: 'about [redacted x]',
        system: null,
      });
      expect((await search(store, project, secret)).items).toEqual([]);
      expect((await search(store, project, 'redacted')).items).toHaveLength(1);
      const filter = { projectId: project, deletedBefore: 0 };
      expect(await store.planPurge(filter)).toMatchObject({ unfinished: true });
      expect(await (await store.redactions()).overwrite({ rewrites: false })).toMatchObject({
        integrity: 'ok',
      });
      expect(await store.planPurge(filter)).toMatchObject({ unfinished: false });
      expect((await search(store, project, 'other')).items).toHaveLength(1);
    });

    it('are told in the audit log, unless nothing was replaced', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await textsOf(store, project);
      const by = { time: startOfTime, key_id: null, request_id: null };
      const redaction = { ...(await changesOf(store, project, id)), by };
      expect(await (await store.redactions()).redact(project, id, redaction)).toEqual({ kind: 'redacted' });
      expect(await (await store.redactions()).redact(project, id, redaction)).toEqual({ kind: 'changed' });
      await store.audit.chain();
      const operations = (await store.audit.read(0)).map(({ entry }) => JSON.parse(entry).what);
      expect(operations.filter((what) => what === 'redact')).toHaveLength(1);
    });

    it('erase the stored answers that tell of the session, and the key of a message that was replaced', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = newId('ses');
      const create = (title: string) =>
        store.createSession(project, { session_id, title, now: startOfTime }, once('create'));
      await create(secret);
      await (await store.redactions()).redact(project, session_id, { messages: [], changes: { title: 'x' } });
      await store.deleteSession(project, session_id, startOfTime);
      await store.purgeSessions(
        { projectId: project, deletedBefore: startOfTime + 1 },
        { expected: 1, keptSince: 0 },
      );
      expect(await create('anew')).toMatchObject({ value: { title: 'anew' } });
      const id = await textsOf(store, project);
      await (await store.redactions()).redact(project, id, await changesOf(store, project, id));
      const repeated = await begin(store, project, {
        content: `my ${secret} is`,
        idempotencyKey: once('turn'),
      });
      expect(repeated.session_id).not.toBe(id);
    });

    it('are refused while a turn runs, for a text that changed, and in another project', async () => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store)];
      const id = await textsOf(store, project);
      const redaction = await changesOf(store, project, id);
      const { redact } = {
        redact: async (of: string, given = redaction) => (await store.redactions()).redact(of, id, given),
      };
      expect(await redact(other)).toEqual({ kind: 'not_found' });
      const stale = redaction.messages.map((message) => ({ ...message, was: 'not so' }));
      expect(await redact(project, { ...redaction, messages: stale })).toEqual({ kind: 'changed' });
      const running = await begin(store, project, { session_id: id });
      expect(await redact(project)).toEqual({ kind: 'busy' });
      expect((await all(store, project, id)).filter(({ content }) => content.includes(secret))).toHaveLength(
        2,
      );
      await store.endTurn(project, running, turnReply());
      expect(await redact(project)).toEqual({ kind: 'redacted' });
      const abandoned = await beginWithEndedLease(store, project, { content: secret });
      expect(
        await (await store.redactions()).redact(project, abandoned.session_id, {
          messages: [{ message_id: abandoned.message_id, was: secret, content: 'x' }],
          changes: {},
        }),
      ).toEqual({ kind: 'redacted' });
    });

    it('find who else holds a text: other projects, deleted sessions, titles, up to a limit', async () => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store)];
      const [one, two] = [await textsOf(store, project), await textsOf(store, other)];
      await store.deleteSession(other, two, startOfTime);
      const redactions = await store.redactions();
      const holders = (limit: number) => redactions.holders([secret], limit);
      expect(await holders(5)).toEqual(expect.arrayContaining([one, two].sort()));
      expect(await holders(1)).toHaveLength(1);
      const redaction = await changesOf(store, project, one);
      await (await store.redactions()).redact(project, one, redaction);
      expect(await holders(200)).not.toContain(one);
      expect(await holders(200)).toContain(two);
    });
  });
}
