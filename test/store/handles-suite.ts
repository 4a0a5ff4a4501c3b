// The behaviour of two stores that are open on the same sessions, as in two processes.
import { describe, expect, it } from 'vitest';
import type { SessionStore, Turn } from '../../src/store/session-store.ts';
import type { NewPlace } from './every-store.ts';
import {
  everySession,
  firstPage,
  newId,
  newKey,
  newProject,
  newSession,
  once,
  recordOf,
  search,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, beginWithEndedLease, contents } from './turn-steps.ts';

const never = new AbortController().signal;
const other = { owner: 'owner-2', ms: 60_000 } as const;

export function describeHandles(name: string, newPlace: NewPlace): void {
  describe(`${name}, opened twice`, () => {
    async function both(): Promise<{ one: SessionStore; two: SessionStore; project: string }> {
      const place = await newPlace();
      const [one, two] = [await place.open(), await place.open()];
      return { one, two, project: await newProject(one) };
    }

    it('sees at once the commits of the other, also those of keys', async () => {
      const { one, two, project } = await both();
      const key = newKey();
      const { key_id } = await one.createKey(key);
      expect(await two.findKey(key.hash)).toMatchObject({ key_id });
      const id = await newSession(one, project, { title: 'old' });
      expect(await two.findSession(project, id)).toEqual(await one.findSession(project, id));
      await two.changeSession(project, id, { title: 'new' });
      expect((await one.listSessions(project, everySession())).items).toMatchObject([{ title: 'new' }]);
      await two.deleteSession(project, id, startOfTime);
      expect(await one.findSession(project, id)).toBeNull();
      await two.revokeKey(key_id, startOfTime);
      expect(await one.findKey(key.hash)).toBeNull();
    });

    it('finds the messages of the other, and its replaced replies', async () => {
      const { one, two, project } = await both();
      const turn = await begin(one, project, { content: 'a fox' });
      expect((await search(two, project, 'fox')).items).toHaveLength(1);
      await one.endTurn(project, turn, turnReply({ content: 'half', finish_reason: 'interrupted' }));
      expect((await search(two, project, 'half')).items).toHaveLength(1);
      await one.endTurn(project, turn, turnReply({ content: 'whole' }));
      expect((await search(two, project, 'half')).items).toEqual([]);
      expect(await search(two, project, 'whole')).toEqual(await search(one, project, 'whole'));
    });

    it('lets one turn run in a session, and notices the end of the other’s turn', async () => {
      const { one, two, project } = await both();
      const session_id = await newSession(one, project);
      const begun = await Promise.all(
        [one, two].map((store) => store.beginTurn(project, turnStart({ session_id }))),
      );
      expect(begun.map(({ kind }) => kind).sort()).toEqual(['begun', 'busy']);
      const winner = begun.findIndex(({ kind }) => kind === 'begun');
      const [holder, waiter] = winner === 0 ? [one, two] : [two, one];
      const { turn } = begun[winner] as { readonly turn: Turn };
      const isFree = waiter.waitForTurn(project, turn, 10_000, never);
      expect(await holder.endTurn(project, turn, turnReply())).toMatchObject({ kind: 'kept' });
      expect(await isFree).toBe(true);
      expect(await begin(waiter, project, { session_id, lease: other })).toMatchObject({ position: 2 });
    });

    it('takes over a turn whose lease is over; the first owner has lost it, and its reply is not stored', async () => {
      const { one, two, project } = await both();
      const start = { idempotencyKey: once('chat'), content: 'once' };
      const lost = await beginWithEndedLease(one, project, start);
      const held = await begin(two, project, { ...start, lease: other });
      expect(held).toMatchObject({ message_id: lost.message_id, position: 0 });
      expect(held.epoch).toBeGreaterThan(lost.epoch);
      expect(await one.renewTurn(project, lost, 60_000)).toBe(false);
      expect(await two.renewTurn(project, held, 60_000)).toBe(true);
      expect(await one.endTurn(project, lost, turnReply({ content: 'first' }))).toEqual({
        ...{ kind: 'lost', standing: null },
      });
      const reply = turnReply({ content: 'second' });
      expect(await two.endTurn(project, held, reply)).toEqual({ kind: 'kept', message_count: 2 });
      expect(await one.endTurn(project, lost, turnReply({ content: 'first' }))).toMatchObject({
        ...{ kind: 'lost', standing: { message_id: reply.message_id } },
      });
      expect(await contents(one, project, lost.session_id)).toEqual(['user: once', 'stop: second']);
    });

    it('carries out a request once that both get at the same moment with one key', async () => {
      const { one, two, project } = await both();
      const ten = <T>(ask: (store: SessionStore, index: number) => Promise<T>) =>
        Promise.all(Array.from({ length: 10 }, (_, index) => ask(index % 2 === 0 ? one : two, index)));
      const created = await ten((store, index) =>
        store.createSession(
          project,
          { session_id: newId('ses'), title: `${index}`, now: startOfTime },
          once('create'),
        ),
      );
      expect(new Set(created.map((result) => JSON.stringify(result))).size).toBe(1);
      const begun = await ten((store) =>
        store.beginTurn(project, turnStart({ idempotencyKey: once('chat', 'chat') })),
      );
      expect(begun.map(({ kind }) => kind).sort()).toEqual(['begun', ...Array(9).fill('busy')].sort());
      const record = recordOf('ses_import', ['a', 'b']);
      const imported = await ten((store) => store.importSession(project, record, once('import', 'import')));
      expect(imported).toEqual(Array(10).fill({ kind: 'done', value: record.session }));
      const again = await ten((store) => store.importSession(project, record, null));
      expect(again).toEqual(imported);
      const { items } = await one.listSessions(project, everySession());
      expect(items).toHaveLength(3);
      const ids = items.map(({ session_id }) => session_id);
      const deleted = await ten((store) =>
        store.deleteSessions(project, ids, startOfTime, once('delete', 'delete')),
      );
      const done = ids.map((session_id) => ({ session_id, status: 'deleted' }));
      expect(deleted).toEqual(Array(10).fill({ kind: 'done', value: done }));
    });

    it('keeps the positions of a session without gaps while both continue it', async () => {
      const { one, two, project } = await both();
      const session_id = await newSession(one, project);
      const talk = async (store: SessionStore, owner: string) => {
        for (let turns = 0; turns < 5; ) {
          const lease = { owner, ms: 60_000 };
          const begun = await store.beginTurn(project, turnStart({ session_id, content: owner, lease }));
          if (begun.kind === 'busy') await store.waitForTurn(project, begun, 10_000, never);
          if (begun.kind !== 'begun') continue;
          await store.endTurn(project, begun.turn, turnReply({ content: owner }));
          turns += 1;
        }
      };
      await Promise.all([talk(one, 'owner-1'), talk(two, 'owner-2')]);
      const { items = [] } = (await two.listMessages(project, session_id, firstPage)) ?? {};
      expect(items.map(({ position }) => position)).toEqual(items.map((_, index) => index));
      expect(items).toHaveLength(20);
      for (const { position, content } of items)
        expect(content).toBe(items[position - (position % 2)]?.content);
      expect((await one.findSession(project, session_id))?.message_count).toBe(20);
    });

    it('erases sessions of the other too', async () => {
      const { one, two, project } = await both();
      const id = await newSession(one, project);
      await one.deleteSession(project, id, startOfTime);
      const filter = { projectId: project, deletedBefore: startOfTime + 1 };
      expect(await two.purgeSessions(filter, { expected: 1, keptSince: 0 })).toMatchObject({
        kind: 'purged',
      });
      expect(await one.holdsAny(project, [id])).toBe(false);
      expect(await one.purgeSessions(filter, { expected: 1, keptSince: 0 })).toEqual({
        ...{ kind: 'other_count', sessions: 0 },
      });
    });

    it('works on after the other is closed', async () => {
      const { one, two, project } = await both();
      const id = await newSession(one, project);
      await one.close();
      await expect(one.ping()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await two.ping();
      expect(await two.changeSession(project, id, { title: 'new' })).toMatchObject({ title: 'new' });
    });
  });
}
