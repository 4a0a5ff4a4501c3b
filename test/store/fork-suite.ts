// Forks in every store: a copy of the visible line, whole or not there, that shares nothing with its parent.
import { describe, expect, it } from 'vitest';
import { noOrdering } from '../../src/service/session.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { another, everyMessage, forkId, forkOf, kinds, moveOf, sessionOf, turnOf } from './line-samples.ts';
import {
  at,
  everySession,
  firstPage,
  newId,
  newProject,
  newSession,
  once,
  recordOf,
  snippets,
  startOfTime,
  turnReply,
} from './store-samples.ts';
import { begin, contents } from './turn-steps.ts';

const longCount = 1200;

export function describeForks(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: forks`, () => {
    it('have the visible line, the settings and the title of their parent, and ids of their own', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b']);
      await another(store, project, session_id, {
        content: 'B2',
        usage: { input_tokens: 3, output_tokens: 4 },
      });
      const settings = { system: 'Be brief.', parameters: { temperature: 0.5 } };
      await store.changeSession(project, session_id, { title: 'parent', ...settings });
      const parent = await everyMessage(store, project, session_id);
      const line = (await store.listMessages(project, session_id, firstPage))?.items ?? [];
      const fork = forkOf(session_id);
      const end = await store.forkSession(project, fork, null);
      const id = fork.newSession.session_id;
      const expected = {
        ...{ session_id: id, title: 'parent', message_count: 4, mode: 'echo', ...settings },
        ...noOrdering,
        ...{ created_at: at(9000), updated_at: at(9000), parent_id: session_id, forked_at: 3, user: null },
      };
      expect(end).toEqual({ kind: 'done', value: expected });
      expect(await store.findSession(project, id)).toEqual(expected);
      expect(await everyMessage(store, project, id)).toEqual(
        line.map((message) => ({ ...message, message_id: `${fork.copy_id_prefix}_${message.position}` })),
      );
      expect(await everyMessage(store, project, session_id)).toEqual(parent);
      expect((await snippets(store, project, 'b2')).length).toBe(2);
    });

    it('end at any reply, with a title of their own or none', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b', 'c']);
      for (const title of ['own', null]) {
        const newSession = { session_id: newId('ses'), title };
        const id = forkId(
          await store.forkSession(project, forkOf(session_id, { through: 1, newSession }), null),
        );
        expect(await contents(store, project, id)).toEqual(['user: a', 'stop: A']);
        expect(await store.findSession(project, id)).toMatchObject({ title, forked_at: 1 });
      }
      for (const through of [0, 2, 7, 100])
        expect(await store.forkSession(project, forkOf(session_id, { through }), null)).toEqual({
          ...{ kind: 'no_reply', last: 5 },
        });
      const empty = await newSession(store, project);
      expect(await store.forkSession(project, forkOf(empty), null)).toEqual({ kind: 'no_reply', last: null });
    });

    it('are made while a turn runs, through the last turn with a reply', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      const turn = await begin(store, project, { session_id, content: 'b' });
      const id = forkId(await store.forkSession(project, forkOf(session_id), null));
      expect(await contents(store, project, id)).toEqual(['user: a', 'stop: A']);
      expect(await store.endTurn(project, turn, turnReply())).toMatchObject({ kind: 'kept' });
      expect(await begin(store, project, { session_id: id })).toMatchObject({ position: 2 });
    });

    it('share nothing with their parent, and outlive it', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b']);
      const parent = await everyMessage(store, project, session_id);
      const id = forkId(await store.forkSession(project, forkOf(session_id), null));
      const fork = await everyMessage(store, project, id);
      await another(store, project, id, { content: 'B2' });
      await store.undoTurn(project, moveOf(id));
      await turnOf(store, project, id, 'c');
      expect(await everyMessage(store, project, session_id)).toEqual(parent);
      await store.undoTurn(project, moveOf(id));
      await store.redoTurn(project, moveOf(id));
      await store.deleteSession(project, session_id, startOfTime);
      await store.purgeSessions(
        { projectId: project, deletedBefore: startOfTime + 1 },
        { expected: 1, keptSince: 0 },
      );
      expect((await everyMessage(store, project, id)).slice(0, 2)).toEqual(fork.slice(0, 2));
      expect(await store.findSession(project, id)).toMatchObject({ parent_id: session_id, message_count: 4 });
      expect((await store.inspect()).integrity).toBe('ok');
    });

    it('do not count their copies in the usage, wherever these move, but count their own replies', async () => {
      const store = await open();
      const project = await newProject(store);
      const usage = { input_tokens: 1, output_tokens: 1 };
      const { session_id } = await turnOf(store, project, null, 'a', { usage });
      const turns = async () => (await store.usage(0, 'mode')).map((group) => group.turns);
      const id = forkId(await store.forkSession(project, forkOf(session_id), null));
      expect(await turns()).toEqual([1]);
      await another(store, project, id, { usage });
      expect(await turns()).toEqual([2]);
      await store.undoTurn(project, moveOf(id));
      await store.redoTurn(project, moveOf(id));
      expect(await turns()).toEqual([2]);
      const second = forkId(await store.forkSession(project, forkOf(session_id), null));
      await store.undoTurn(project, moveOf(second));
      await store.redoTurn(project, moveOf(second));
      expect(await turns()).toEqual([2]);
    });

    it('are made once for one key', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      const first = await store.forkSession(project, forkOf(session_id), once('f'));
      expect(await store.forkSession(project, forkOf(session_id), once('f'))).toEqual(first);
      expect(await store.forkSession(project, forkOf(session_id), once('f', 'else'))).toEqual({
        kind: 'mismatch',
      });
      expect((await store.listSessions(project, everySession())).items).toHaveLength(2);
    });

    it('are made of sessions of the project alone, which are not deleted', async () => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store)];
      const session_id = await sessionOf(store, project, ['a']);
      expect(await store.forkSession(other, forkOf(session_id), null)).toEqual({ kind: 'not_found' });
      await store.deleteSession(project, session_id, startOfTime);
      expect(await store.forkSession(project, forkOf(session_id), null)).toEqual({ kind: 'not_found' });
    });

    /** A fork to be made of a session with `longCount` messages. */
    async function longParent() {
      const store = await open();
      const project = await newProject(store);
      const texts = Array.from({ length: longCount }, (_, index) => `text ${index}`);
      const record = recordOf(newId('ses'), texts);
      await store.importSession(project, record, null);
      const { session_id } = record.session;
      return { store, project, session_id, texts, messages: record.messages, fork: forkOf(session_id) };
    }

    it('of a long session that meet a redaction have none of the redacted texts, or are to be made again', async () => {
      const { store, project, session_id, messages, fork } = await longParent();
      let isOver = false;
      const forking = store
        .forkSession(project, fork, null)
        .catch((error: unknown) => error)
        .finally(() => {
          isOver = true;
        });
      const redactions = await store.redactions();
      const redacted: string[] = [];
      for (const { message_id, content: was } of messages) {
        const end = await redactions.redact(project, session_id, {
          ...{ messages: [{ message_id, was, content: 'x' }], changes: {} },
        });
        expect(end).toEqual({ kind: 'redacted' });
        if (isOver || redacted.length === 20) break;
        redacted.push(was);
      }
      const end = await forking;
      if (end instanceof Error) {
        expect(end).toMatchObject({ code: 'STORE_BUSY' });
        expect(await store.findSession(project, fork.newSession.session_id)).toBeNull();
        expect(await store.forkSession(project, fork, null)).toMatchObject({ kind: 'done' });
      }
      const copies = await everyMessage(store, project, fork.newSession.session_id);
      expect(copies.filter(({ content }) => redacted.includes(content))).toEqual([]);
    });

    it('of a long session are whole, and other calls are answered meanwhile', async () => {
      const { store, project, session_id, texts, fork } = await longParent();
      const key = once('long');
      let isOver = false;
      const ended = Promise.all([
        store.forkSession(project, fork, key),
        store.forkSession(project, fork, key).catch(() => null),
      ]).finally(() => {
        isOver = true;
      });
      let calls = 0;
      while (!isOver) {
        const found = await store.findSession(project, fork.newSession.session_id);
        if (found !== null) expect(found.message_count).toBe(longCount);
        // The last turn of the parent goes and comes back.
        await store.undoTurn(project, moveOf(session_id));
        await store.redoTurn(project, moveOf(session_id));
        calls += 1;
      }
      const [first, second] = await ended;
      expect(calls).toBeGreaterThan(0);
      expect(second).toEqual(first);
      const id = forkId(first);
      const copied = await everyMessage(store, project, id, 200);
      expect([longCount, longCount - 2]).toContain(copied.length);
      expect(copied.map(({ content }) => content)).toEqual(texts.slice(0, copied.length));
      expect((await store.listSessions(project, everySession())).items).toHaveLength(2);
      expect(await kinds(store, project, session_id)).toHaveLength(longCount);
    });
  });
}
