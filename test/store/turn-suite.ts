// The behaviour of every store with turns: two writes per turn, one turn at a time in a session, and none is ever doubled.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { SessionStore, Turn } from '../../src/store/session-store.ts';
import {
  at,
  bareSession,
  firstPage,
  newId,
  newProject,
  newSession,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, beginWithEndedLease, contents } from './turn-steps.ts';

const hourMs = 3_600_000;

export function describeTurns(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: turns`, () => {
    it('store the message first, with a new session for it, and then the reply', async () => {
      const store = await open();
      const project = await newProject(store);
      const start = turnStart({ content: 'Ada 🙂', mode: 'eliza' });
      const turn = await begin(store, project, start);
      const { session_id, title } = start.newSession;
      const { message_id } = start;
      expect(turn).toEqual({
        ...{ session_id, message_id, position: 0, content: 'Ada 🙂', mode: 'eliza', owner: 'owner-1' },
        epoch: expect.any(Number),
      });
      expect(await store.findSession(project, session_id)).toEqual({
        ...{ session_id, title, created_at: at(0), updated_at: at(0), message_count: 1 },
        ...{ ...bareSession, mode: 'eliza' },
      });
      const usage = { input_tokens: 3, output_tokens: 0 };
      const reply = turnReply({ content: 'Go on', finish_reason: 'length', usage, mode: 'fallback' });
      expect(await store.endTurn(project, turn, reply)).toEqual({ kind: 'kept', message_count: 2 });
      expect((await store.listMessages(project, session_id, firstPage))?.items).toEqual([
        {
          ...{ message_id, position: 0, role: 'user', content: 'Ada 🙂', mode: 'eliza' },
          ...{ finish_reason: null, usage: null, created_at: at(0) },
        },
        {
          ...{
            message_id: reply.message_id,
            position: 1,
            role: 'assistant',
            content: 'Go on',
            mode: 'fallback',
          },
          ...{ finish_reason: 'length', usage, created_at: at(1000) },
        },
      ]);
      expect(await store.findSession(project, session_id)).toMatchObject({
        updated_at: at(1000),
        message_count: 2,
      });
    });

    it('continue a session with its history', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project);
      for (const content of ['a', 'b', 'c']) {
        const turn = await begin(store, project, { session_id, content });
        await store.endTurn(project, turn, turnReply({ content: content.toUpperCase() }));
      }
      const turn = await begin(store, project, { session_id, content: 'd' });
      expect(turn.position).toBe(6);
      const contentsBefore = async (before: number, limit: number) =>
        (await store.history(project, session_id, before, limit)).map((message) => message.content);
      expect(await contentsBefore(turn.position, 4)).toEqual(['b', 'B', 'c', 'C']);
      expect(await contentsBefore(turn.position, 100)).toEqual(['a', 'A', 'b', 'B', 'c', 'C']);
      expect(await contentsBefore(0, 4)).toEqual([]);
      expect(await contentsBefore(6, 0)).toEqual([]);
    });

    it('are not found in an unknown session', async () => {
      const store = await open();
      const project = await newProject(store);
      expect(await store.beginTurn(project, turnStart({ session_id: 'none' }))).toEqual({
        kind: 'not_found',
      });
    });

    it('never run at the same time in a session, even for one owner, whatever time of day their callers give', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id, epoch } = await begin(store, project);
      for (const owner of ['owner-1', 'owner-2']) {
        for (const now of [startOfTime - hourMs, startOfTime + hourMs]) {
          const lease = { owner, ms: 60_000 };
          expect(await store.beginTurn(project, turnStart({ session_id, lease, now }))).toEqual({
            ...{ kind: 'busy', session_id, owner: 'owner-1', epoch },
          });
        }
      }
      expect(await contents(store, project, session_id)).toEqual(['user: Hello']);
    });

    it('that begin at the same moment in one session: one begins, the other is busy', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project);
      const both = await Promise.all([
        store.beginTurn(project, turnStart({ session_id })),
        store.beginTurn(project, turnStart({ session_id })),
      ]);
      expect(both.map((begun) => begun.kind)).toEqual(['begun', 'busy']);
    });

    it.each([
      ['was suspended for longer than its lease', 1, null],
      ['is known to be dead', 60_000, 'owner-1'],
    ])('of an owner that %s are closed with an empty interrupted reply', async (_, ms, deadOwner) => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await begin(store, project, { mode: 'eliza', lease: { owner: 'owner-1', ms } });
      await delay(5);
      const next = turnStart({
        ...{ session_id, content: 'Again', lease: { owner: 'owner-2', ms: 60_000 }, deadOwner },
        // The time of day was set back. Leases do not depend on it.
        now: startOfTime - hourMs,
      });
      const turn = await begin(store, project, next);
      expect(turn.position).toBe(2);
      expect(await contents(store, project, session_id)).toEqual([
        'user: Hello',
        'interrupted: ',
        'user: Again',
      ]);
      const closing = (await store.listMessages(project, session_id, firstPage))?.items[1];
      expect(closing).toMatchObject({ message_id: next.closing_message_id, mode: 'eliza', usage: null });
      expect((await store.findSession(project, session_id))?.message_count).toBe(3);
    });

    it('stay with an owner that renews them, for the time of the last renewal', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await beginWithEndedLease(store, project);
      expect(await store.renewTurn(project, turn, 60_000)).toBe(true);
      const { session_id, epoch } = turn;
      expect(await store.beginTurn(project, turnStart({ session_id }))).toEqual({
        ...{ kind: 'busy', session_id, owner: 'owner-1', epoch },
      });
      // A long lease is not shortened, because that would cost another write.
      expect(await store.renewTurn(project, turn, 1)).toBe(true);
      expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
    });

    it('are neither renewed nor released for an owner that has lost them', async () => {
      const store = await open();
      const project = await newProject(store);
      const lost = await begin(store, project);
      const { session_id } = lost;
      // The next turn has the same owner, so only the epoch distinguishes the two.
      const running = await begin(store, project, { session_id, deadOwner: 'owner-1' });
      expect(running.epoch).toBeGreaterThan(lost.epoch);
      expect(await store.renewTurn(project, lost, 60_000)).toBe(false);
      expect(await store.renewTurn(project, running, 60_000)).toBe(true);
      await store.endTurn(project, lost, turnReply());
      expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({
        ...{ kind: 'busy', epoch: running.epoch },
      });
    });

    it('are held until they end, even after their lease, if nobody has taken them', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await beginWithEndedLease(store, project);
      expect(await store.endTurn(project, turn, turnReply())).toEqual({ kind: 'kept', message_count: 2 });
      expect(await store.renewTurn(project, turn, 60_000)).toBe(false);
    });

    it.each([
      ['a whole reply', turnReply({ content: 'late' }), 'stop: late'],
      ['a part of a reply', turnReply({ content: 'la', finish_reason: 'interrupted' }), 'interrupted: la'],
    ])('keep %s of an owner that has lost them, in place of the empty reply', async (_, reply, expected) => {
      const store = await open();
      const project = await newProject(store);
      const lost = await begin(store, project);
      const { session_id } = lost;
      const running = await begin(store, project, {
        session_id,
        content: 'Again',
        deadOwner: 'owner-1',
        now: startOfTime + 5000,
      });
      const again = { ...reply, message_id: newId('reply') };
      expect(await store.endTurn(project, lost, again)).toEqual({ kind: 'kept', message_count: 3 });
      expect(await contents(store, project, session_id)).toEqual(['user: Hello', expected, 'user: Again']);
      // Every activity changes the time, and none moves it back.
      expect((await store.findSession(project, session_id))?.updated_at).toBe(at(5001));
      // The late reply does not release the running turn.
      expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
      expect(await store.endTurn(project, running, turnReply({ content: 'now' }))).toEqual({
        ...{ kind: 'kept', message_count: 4 },
      });
    });

    it.each(['stop', 'length'] as const)(
      'that ended in %s refuse every other reply, and return the stored one',
      async (finish_reason) => {
        const store = await open();
        const project = await newProject(store);
        const turn = await begin(store, project);
        const whole = turnReply({ content: 'whole', finish_reason });
        await store.endTurn(project, turn, whole);
        const before = await store.findSession(project, turn.session_id);
        const other = turnReply({ content: 'other', now: startOfTime + hourMs });
        expect(await store.endTurn(project, turn, other)).toMatchObject({
          ...{ kind: 'lost', standing: { message_id: whole.message_id, content: 'whole', position: 1 } },
        });
        expect(await contents(store, project, turn.session_id)).toEqual([
          'user: Hello',
          `${finish_reason}: whole`,
        ]);
        expect(await store.findSession(project, turn.session_id)).toEqual(before);
        // The same reply is sent once more after a lost answer. It is stored already.
        expect(await store.endTurn(project, turn, whole)).toEqual({ kind: 'kept', message_count: 2 });
      },
    );

    it.each<[string, (store: SessionStore, project: string, turn: Turn) => Promise<unknown>]>([
      ['ends', (store, project, turn) => store.endTurn(project, turn, turnReply())],
      [
        'is lost',
        (store, project, { session_id }) => begin(store, project, { session_id, deadOwner: 'owner-1' }),
      ],
      [
        'is of a deleted session',
        (store, project, { session_id }) => store.deleteSession(project, session_id, 0),
      ],
      ['stands still', () => delay(200)],
    ])('are waited for until the one that runs %s', async (_, happens) => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { lease: { owner: 'owner-1', ms: 150 } });
      const signal = new AbortController().signal;
      const isFree = store.waitForTurn(project, turn, 10_000, signal);
      await happens(store, project, turn);
      expect(await isFree).toBe(true);
      expect(await store.waitForTurn(project, turn, 0, signal)).toBe(true);
    });

    it('are waited for until the time is over or the signal fires', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      const stop = new AbortController();
      expect(await store.waitForTurn(project, turn, 30, stop.signal)).toBe(false);
      const waiting = store.waitForTurn(project, turn, 60_000, stop.signal);
      stop.abort(new Error('enough'));
      await expect(waiting).rejects.toThrow('enough');
      await expect(store.waitForTurn(project, turn, 60_000, stop.signal)).rejects.toThrow('enough');
      // Another project does not see the turn.
      const other = await newProject(store);
      expect(await store.waitForTurn(other, turn, 60_000, new AbortController().signal)).toBe(true);
    });

    it('of an unknown session end as not found', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      const elsewhere = { ...turn, session_id: newId('ses') };
      expect(await store.endTurn(project, elsewhere, turnReply())).toEqual({ kind: 'not_found' });
      expect(await store.renewTurn(project, elsewhere, 60_000)).toBe(false);
    });

    it('store their reply in a session that was deleted meanwhile, and leave it deleted', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      await store.deleteSession(project, turn.session_id, startOfTime);
      expect(await store.renewTurn(project, turn, 60_000)).toBe(true);
      expect(await store.endTurn(project, turn, turnReply())).toEqual({ kind: 'kept', message_count: 2 });
      expect(await store.findSession(project, turn.session_id)).toBeNull();
      await store.restoreSession(project, turn.session_id, null);
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello', 'stop: Hello to you']);
      expect(await begin(store, project, { session_id: turn.session_id })).toMatchObject({ position: 2 });
    });
  });
}
