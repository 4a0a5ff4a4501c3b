// The stored parts of running replies, in every store: what becomes of them when the process of a turn is gone.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Message, Session } from '../../src/service/session.ts';
import type { ReplyPart, SessionStore, Turn, TurnStart } from '../../src/store/session-store.ts';
import type { NewPlace } from './every-store.ts';
import { beginAnother, everyMessage, kinds, moveOf, regeneration, sessionOf } from './line-samples.ts';
import {
  at,
  firstPage,
  newProject,
  once,
  recordOf,
  search,
  startOfTime,
  turnReply,
} from './store-samples.ts';
import { begin, contents } from './turn-steps.ts';

const part = { message_id: 'msg_part', mode: 'fallback', now: startOfTime + 8 };
const gone = { owner: 'owner-1', ms: 1 };
const everything = { limit: 200, after: null };

function partAt(place: number, content: string, more: Partial<ReplyPart> = {}): ReplyPart {
  return { ...part, at: place, content, ...more };
}

/** Stores parts of the reply and lets the lease of the turn end. */
async function leave(
  store: SessionStore,
  project: string,
  turn: Turn,
  parts = [partAt(0, 'Once upon a time')],
): Promise<void> {
  for (const one of parts) expect(await store.renewTurn(project, turn, 1, one)).toBe(true);
  await delay(5);
}

export function describeReplyParts(name: string, newPlace: NewPlace): void {
  describe(`${name}: the stored parts of a reply whose process is gone`, () => {
    const open = async () => (await newPlace()).open();

    async function abandoned(start: Partial<TurnStart> = {}) {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { lease: gone, ...start });
      await leave(store, project, turn);
      return { store, project, turn, session: turn.session_id };
    }

    async function abandonedAlternative() {
      const store = await open();
      const project = await newProject(store);
      const session = await sessionOf(store, project, ['one', 'two']);
      const turn = await beginAnother(store, project, regeneration(session, { lease: gone }));
      await leave(store, project, turn);
      return { store, project, turn, session };
    }

    const reply: Partial<Message> = {
      ...{ message_id: 'msg_part', position: 1, role: 'assistant', content: 'Once upon a time' },
      ...{ mode: 'fallback', finish_reason: 'interrupted', usage: null, created_at: at(8) },
    };
    const list = {
      'the visible line': (store: SessionStore, project: string, session: string) =>
        store.listMessages(project, session, firstPage),
      'all messages': (store: SessionStore, project: string, session: string) =>
        store.listAllMessages(project, session, everything),
    };

    it.each(Object.entries(list))('become an interrupted reply when %s is read', async (_, read) => {
      const { store, project, session } = await abandoned();
      const before = await store.findSession(project, session);
      expect((await read(store, project, session))?.items).toMatchObject([{ content: 'Hello' }, reply]);
      expect(await store.findSession(project, session)).toEqual({
        ...{ ...before, message_count: 2, updated_at: at(8) },
      });
      expect((await search(store, project, 'upon')).items).toMatchObject([
        { session: { session_id: session } },
      ]);
      const again = await read(store, project, session);
      expect(again?.items).toHaveLength(2);
      expect(await begin(store, project, { session_id: session })).toMatchObject({ position: 2 });
    });

    it('make one text in their order; a part at the place of an earlier one takes its place', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { lease: gone });
      await leave(store, project, turn, [
        partAt(0, 'Once ', { now: startOfTime + 1 }),
        partAt(5, 'upon'),
        // The answer of the last call was lost, so the part is sent again, with more text.
        partAt(5, 'upon a time'),
        partAt(16, ', there', { now: startOfTime + 9 }),
      ]);
      expect((await store.listMessages(project, turn.session_id, firstPage))?.items[1]).toEqual({
        ...{ ...reply, content: 'Once upon a time, there', created_at: at(9) },
      });
    });

    it('become the reply when the session continues, and belong to its history', async () => {
      const { store, project, session } = await abandoned();
      const later = { session_id: session, content: 'Go on', now: startOfTime + 5000 };
      const next = await begin(store, project, later);
      expect(next).toMatchObject({ position: 2 });
      expect(await store.history(project, session, next.position, 10)).toMatchObject([
        { content: 'Hello' },
        reply,
      ]);
      expect(await store.findSession(project, session)).toMatchObject({
        ...{ message_count: 3, updated_at: at(5000) },
      });
      expect((await search(store, project, 'upon')).items).toHaveLength(1);
    });

    it('are no message while the turn runs, and none after its end', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      expect(await store.renewTurn(project, turn, 60_000, partAt(0, 'Once '))).toBe(true);
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello']);
      expect(await everyMessage(store, project, turn.session_id)).toHaveLength(1);
      const whole = turnReply({ content: 'Once upon a time.' });
      expect(await store.endTurn(project, turn, whole)).toEqual({ kind: 'kept', message_count: 2 });
      expect(await kinds(store, project, turn.session_id)).toEqual(['Hello', 'Once upon a time.']);
      await begin(store, project, { session_id: turn.session_id, content: 'next' });
      expect(await kinds(store, project, turn.session_id)).toEqual(['Hello', 'Once upon a time.', 'next']);
    });

    it('are not stored for an owner that has lost the turn', async () => {
      const store = await open();
      const project = await newProject(store);
      const lost = await begin(store, project);
      const { session_id } = lost;
      const next = await begin(store, project, { session_id, content: 'next', deadOwner: 'owner-1' });
      expect(await store.renewTurn(project, lost, 1, partAt(0, 'late'))).toBe(false);
      expect(await store.endTurn(project, next, turnReply({ content: 'NEXT' }))).toMatchObject({
        ...{ kind: 'kept', message_count: 4 },
      });
      expect(await kinds(store, project, session_id)).toEqual(['', 'Hello', 'NEXT', 'next']);
    });

    it('are an alternative to the reply of the repeated turn', async () => {
      const key = { idempotencyKey: once('key', 'x') };
      const { store, project, session, turn } = await abandoned(key);
      const again = await begin(store, project, key);
      expect(again).toMatchObject({ session_id: session, message_id: turn.message_id });
      await store.endTurn(project, again, turnReply({ content: 'whole' }));
      expect(await contents(store, project, session)).toEqual(['user: Hello', 'stop: whole']);
      expect(await kinds(store, project, session)).toEqual([
        'Hello',
        'alternative Once upon a time',
        'whole',
      ]);
    });

    it('are replaced by the late reply of a process that was not gone, if that is whole or longer', async () => {
      const { store, project, session, turn } = await abandoned();
      await contents(store, project, session);
      const more = { content: 'Once upon a time there', finish_reason: 'interrupted' as const };
      expect(await store.endTurn(project, turn, turnReply(more))).toMatchObject({ kind: 'kept' });
      const less = turnReply({ content: 'Once', finish_reason: 'interrupted' });
      expect(await store.endTurn(project, turn, less)).toMatchObject({ kind: 'lost' });
      expect(await contents(store, project, session)).toEqual([
        'user: Hello',
        'interrupted: Once upon a time there',
      ]);
    });

    it('of another reply are an alternative when the messages are read, and the reply that stood stays', async () => {
      const { store, project, session, turn } = await abandonedAlternative();
      const page = await store.listAllMessages(project, session, everything);
      expect(page?.items.find(({ message_id }) => message_id === 'msg_part')).toMatchObject({
        ...{ ...reply, position: 3, alternative_of: turn.message_id },
      });
      expect(await contents(store, project, session)).toEqual([
        ...['user: one', 'stop: ONE', 'user: two', 'stop: TWO'],
      ]);
      await begin(store, project, { session_id: session });
    });

    it('of another reply are an alternative when the session continues, or when its turn is undone', async () => {
      const continued = await abandonedAlternative();
      await begin(continued.store, continued.project, { session_id: continued.session, content: 'three' });
      expect(await kinds(continued.store, continued.project, continued.session)).toEqual([
        ...['ONE', 'TWO', 'alternative Once upon a time', 'one', 'three', 'two'],
      ]);
      const { store, project, session } = await abandonedAlternative();
      expect(await store.undoTurn(project, moveOf(session))).toMatchObject({ kind: 'done' });
      expect(await kinds(store, project, session)).toEqual([
        ...['ONE', 'alternative Once upon a time', 'one', 'undone TWO', 'undone two'],
      ]);
    });

    it('are undone and redone with their turn', async () => {
      const { store, project, session } = await abandoned();
      expect(await store.undoTurn(project, moveOf(session))).toMatchObject({
        ...{ kind: 'done', value: { session: { message_count: 0 }, message: { content: 'Hello' } } },
      });
      expect(await kinds(store, project, session)).toEqual(['undone Hello', 'undone Once upon a time']);
      await store.redoTurn(project, moveOf(session));
      expect(await contents(store, project, session)).toEqual([
        ...['user: Hello', 'interrupted: Once upon a time'],
      ]);
    });

    it('stay with a deleted session until it is restored, and are erased with a purged one', async () => {
      const { store, project, session } = await abandoned();
      await store.deleteSession(project, session, startOfTime);
      await store.restoreSession(project, session, null);
      expect(await contents(store, project, session)).toEqual([
        ...['user: Hello', 'interrupted: Once upon a time'],
      ]);
      const left = await abandoned();
      await left.store.deleteSession(left.project, left.session, startOfTime);
      const filter = { projectId: left.project, deletedBefore: startOfTime + 1 };
      expect(await left.store.purgeSessions(filter, { expected: 1, keptSince: 0 })).toMatchObject({
        ...{ kind: 'purged', report: { sessions: 1, integrity: 'ok' } },
      });
      expect(await begin(left.store, left.project)).toMatchObject({ position: 0 });
    });

    it('are not lost by an import that replaces the session', async () => {
      const { store, project, turn, session } = await abandoned();
      const read = { session: (await store.findSession(project, session)) as Session };
      const { message_id } = turn;
      const other = recordOf(session, ['Hello', 'Other']);
      const messages = other.messages.map((one) => (one.position === 0 ? { ...one, message_id } : one));
      const record = { ...other, messages, replaces: read };
      expect(await store.importSession(project, record, null)).toEqual({ kind: 'done', value: null });
      expect((await store.listMessages(project, session, firstPage))?.items[1]).toMatchObject(reply);
    });

    it('are found by a check for texts that should be gone', async () => {
      const { store, session } = await abandoned();
      expect(await (await store.redactions()).holders(['a time', 'Once upon'], 10)).toEqual([session]);
    });

    it('are not found after the end of their turn, when the texts of the session were replaced', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      const { session_id } = turn;
      await store.renewTurn(project, turn, 60_000, partAt(0, 'the canary'));
      const { message_id, content: was, ...rest } = turnReply({ content: 'the canary sings' });
      await store.endTurn(project, turn, { message_id, content: was, ...rest });
      const messages = [{ message_id, was, content: 'the [redacted] sings' }];
      await (await store.redactions()).redact(project, session_id, { messages, changes: {} });
      expect(await (await store.redactions()).holders(['canary'], 10)).toEqual([]);
    });

    it('count as one interrupted reply, once they are one', async () => {
      const { store, project, session } = await abandoned();
      expect(await store.usage(0, 'mode')).toEqual([]);
      await contents(store, project, session);
      expect(await store.usage(0, 'mode')).toMatchObject([{ group: 'fallback', turns: 1, uncounted: 1 }]);
    });

    it('are copied as the reply', async () => {
      const place = await newPlace();
      const store = await place.open();
      const project = await newProject(store);
      await leave(store, project, await begin(store, project, { lease: gone }));
      const rows = await place.openRows();
      const { parts } = await rows.readParts(project, null);
      expect(parts).toMatchObject([
        {
          session: { message_count: 2, turn_position: null },
          messages: [{ content: 'Hello' }, { content: 'Once upon a time', finish_reason: 'interrupted' }],
        },
      ]);
      await rows.close();
    });
  });
}
