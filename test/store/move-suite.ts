// Undo and redo in every store: a turn is hidden and shown again as a whole, with its keys.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { another, everyMessage, kinds, moveOf, regeneration, sessionOf, turnOf } from './line-samples.ts';
import {
  at,
  firstPage,
  newId,
  newProject,
  newSession,
  once,
  snippets,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, beginWithEndedLease, contents } from './turn-steps.ts';

export function describeTurnMoves(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: undo and redo`, () => {
    it('hide the last turn, and show it again unchanged', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b']);
      const line = (await store.listMessages(project, session_id, firstPage))?.items ?? [];
      const undone = await store.undoTurn(project, moveOf(session_id));
      expect(undone).toMatchObject({
        kind: 'done',
        value: {
          session: { session_id, message_count: 2, updated_at: at(5000) },
          message: { ...line[2], undone_at: at(5000) },
        },
      });
      expect((await store.listMessages(project, session_id, firstPage))?.items).toEqual(line.slice(0, 2));
      expect(await store.findSession(project, session_id)).toMatchObject({ message_count: 2 });
      expect(await store.history(project, session_id, 10, 10)).toEqual(line.slice(0, 2));
      const all = await everyMessage(store, project, session_id);
      expect(all).toEqual([
        ...line.slice(0, 2),
        ...line.slice(2).map((message) => ({ ...message, undone_at: at(5000) })),
      ]);
      expect(await snippets(store, project, 'b')).toEqual([]);
      const redone = await store.redoTurn(project, moveOf(session_id, { now: startOfTime + 6000 }));
      expect(redone).toMatchObject({
        kind: 'done',
        value: { session: { message_count: 4, updated_at: at(6000) }, message: line[2] },
      });
      expect((await store.listMessages(project, session_id, firstPage))?.items).toEqual(line);
      expect(await everyMessage(store, project, session_id)).toEqual(line);
      expect(await snippets(store, project, 'b')).toHaveLength(2);
    });

    it('take back all turns, the last first, and bring them back in the other order, also when the clock goes back', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b', 'c']);
      const whole = await contents(store, project, session_id);
      const moved: (string | undefined)[] = [];
      const note = (end: Awaited<ReturnType<SessionStore['undoTurn']>>) =>
        moved.push(end.kind === 'done' ? end.value.message.content : end.kind);
      for (const now of [9, 6, 3, 1]) note(await store.undoTurn(project, moveOf(session_id, { now })));
      expect(await contents(store, project, session_id)).toEqual([]);
      for (let times = 0; times < 4; times += 1) note(await store.redoTurn(project, moveOf(session_id)));
      expect(moved).toEqual(['c', 'b', 'a', 'nothing', 'a', 'b', 'c', 'nothing']);
      expect(await contents(store, project, session_id)).toEqual(whole);
    });

    it('bring back the turn that was undone last, not an earlier one of the same place', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      await store.undoTurn(project, moveOf(session_id, { now: startOfTime + 90_000 }));
      await turnOf(store, project, session_id, 'b');
      await store.undoTurn(project, moveOf(session_id, { now: startOfTime }));
      await store.redoTurn(project, moveOf(session_id));
      expect(await kinds(store, project, session_id)).toEqual(['B', 'b', 'undone A', 'undone a']);
    });

    it.each<[string, (store: SessionStore, project: string, session: string) => Promise<unknown>]>([
      ['a message', (store, project, session) => turnOf(store, project, session, 'c')],
      ['another reply', (store, project, session) => another(store, project, session)],
    ])('bring back nothing after %s', async (_, happens) => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b']);
      await store.undoTurn(project, moveOf(session_id));
      await happens(store, project, session_id);
      const before = await everyMessage(store, project, session_id);
      expect(await store.redoTurn(project, moveOf(session_id))).toEqual({ kind: 'nothing' });
      expect(await everyMessage(store, project, session_id)).toEqual(before);
    });

    it('leave the alternatives of an undone turn with their message', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id, message_id } = await turnOf(store, project, null, 'a');
      await another(store, project, session_id, { content: 'B' });
      await store.undoTurn(project, moveOf(session_id));
      const hidden = await everyMessage(store, project, session_id);
      expect(hidden.filter(({ alternative_of }) => alternative_of === message_id)).toHaveLength(1);
      expect(hidden.filter(({ undone_at }) => undone_at !== undefined)).toHaveLength(2);
      await store.redoTurn(project, moveOf(session_id));
      expect(await kinds(store, project, session_id)).toEqual(['B', 'a', 'alternative A']);
    });

    it('close an abandoned turn first, and take it back', async () => {
      const store = await open();
      const project = await newProject(store);
      const lost = await beginWithEndedLease(store, project, { content: 'a' });
      const { session_id } = lost;
      const move = moveOf(session_id);
      expect(await store.undoTurn(project, move)).toMatchObject({
        ...{ kind: 'done', value: { session: { message_count: 0 }, message: { content: 'a' } } },
      });
      const [, closing] = await everyMessage(store, project, session_id);
      expect(closing).toMatchObject({ message_id: move.closing_message_id, finish_reason: 'interrupted' });
      // The owner has lost the turn, so its late reply does not answer the message that is now at this position.
      await turnOf(store, project, session_id, 'b', { finish_reason: 'error', content: 'cut' });
      expect(await store.endTurn(project, lost, turnReply())).toEqual({ kind: 'lost', standing: null });
      expect(await contents(store, project, session_id)).toEqual(['user: b', 'error: cut']);
    });

    it('leave an abandoned turn as it is where nothing can be brought back', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await beginWithEndedLease(store, project, { content: 'a' });
      const before = await store.findSession(project, session_id);
      expect((await store.redoTurn(project, moveOf(session_id))).kind).toBe('nothing');
      expect(await contents(store, project, session_id)).toEqual(['user: a']);
      expect(await store.findSession(project, session_id)).toEqual(before);
    });

    it('move nothing without a turn, in another project, in a deleted session, and while a turn runs', async () => {
      const store = await open();
      const [project, other] = [await newProject(store), await newProject(store)];
      const empty = await newSession(store, project);
      const session_id = await sessionOf(store, project, ['a']);
      for (const move of ['undoTurn', 'redoTurn'] as const) {
        expect(await store[move](project, moveOf(empty))).toEqual({ kind: 'nothing' });
        expect(await store[move](other, moveOf(session_id))).toEqual({ kind: 'not_found' });
        expect(await store[move](project, moveOf(newId('ses')))).toEqual({ kind: 'not_found' });
      }
      const { owner, epoch } = await begin(store, project, { session_id });
      for (const move of ['undoTurn', 'redoTurn'] as const)
        expect(await store[move](project, moveOf(session_id))).toEqual({
          kind: 'busy',
          session_id,
          owner,
          epoch,
        });
      await store.deleteSession(project, session_id, startOfTime);
      expect(await store.listAllMessages(project, session_id, firstPage)).toBeNull();
      expect(await store.undoTurn(project, moveOf(session_id))).toEqual({ kind: 'not_found' });
    });

    it('happen once for one key', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b', 'c']);
      const first = await store.undoTurn(project, moveOf(session_id, { idempotencyKey: once('u') }));
      const again = await store.undoTurn(project, moveOf(session_id, { idempotencyKey: once('u') }));
      expect(again).toEqual(first);
      expect(await contents(store, project, session_id)).toHaveLength(4);
      expect(
        await store.undoTurn(project, moveOf(session_id, { idempotencyKey: once('u', 'else') })),
      ).toEqual({
        kind: 'mismatch',
      });
    });

    it('keep the idempotency keys: the key of an undone turn gets its reply, and brings nothing back', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      for (const [key, finish_reason] of [
        ['whole', 'stop'],
        ['cut', 'error'],
      ] as const) {
        const turn = await begin(store, project, { session_id, content: key, idempotencyKey: once(key) });
        await store.endTurn(project, turn, turnReply({ content: `to ${key}`, finish_reason }));
        await store.undoTurn(project, moveOf(session_id));
        expect(
          await store.beginTurn(project, turnStart({ session_id, idempotencyKey: once(key) })),
        ).toMatchObject({
          ...{ kind: 'answered', turn: { content: key }, reply: { content: `to ${key}` } },
        });
        expect(
          await store.beginTurn(project, turnStart({ session_id, idempotencyKey: once(key, 'else') })),
        ).toEqual({
          kind: 'mismatch',
        });
      }
      expect(await contents(store, project, session_id)).toEqual(['user: a', 'stop: A']);
      // After a redo, the key of a cut turn requests a reply again.
      await store.redoTurn(project, moveOf(session_id));
      expect(await begin(store, project, { session_id, idempotencyKey: once('cut') })).toMatchObject({
        content: 'cut',
      });
    });

    it('keep the key of a regeneration with its message', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a']);
      const key = once('r');
      await another(store, project, session_id, { content: 'mine' }, { idempotencyKey: key });
      await another(store, project, session_id, { content: 'later' });
      const abandoned = once('left');
      await store.beginRegeneration(
        project,
        regeneration(session_id, { idempotencyKey: abandoned, lease: { owner: 'gone', ms: 60_000 } }),
      );
      await store.undoTurn(project, moveOf(session_id, { deadOwner: 'gone' }));
      const repeated = (used: typeof key) =>
        store.beginRegeneration(project, regeneration(session_id, { idempotencyKey: used }));
      expect(await repeated(key)).toMatchObject({ kind: 'answered', reply: { content: 'mine' } });
      expect(await repeated(abandoned)).toMatchObject({ kind: 'answered', reply: { content: 'later' } });
      expect(await contents(store, project, session_id)).toEqual([]);
    });

    it('keep each message at its place in a listing of all, page by page, whatever moves in between', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await sessionOf(store, project, ['a', 'b', 'c']);
      await another(store, project, session_id, { content: 'C2' });
      const ids = (await everyMessage(store, project, session_id)).map(({ message_id }) => message_id);
      const seen: string[] = [];
      for (let after = null as { position: number; messageId: string } | null; ; ) {
        const page = await store.listAllMessages(project, session_id, { limit: 1, after });
        const [message] = page?.items ?? [];
        if (message === undefined) break;
        seen.push(message.message_id);
        after = { position: message.position, messageId: message.message_id };
        const move = seen.length % 2 === 1 ? 'undoTurn' : 'redoTurn';
        await store[move](project, moveOf(session_id));
        if (!page?.hasMore) break;
      }
      expect(seen).toEqual(ids);
    });
  });
}
