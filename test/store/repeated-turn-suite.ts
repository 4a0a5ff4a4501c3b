// The behaviour of every store with a turn that is repeated with its idempotency key.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { newId, newProject, once, startOfTime, turnReply, turnStart } from './store-samples.ts';

import { begin, beginWithEndedLease, contents } from './turn-steps.ts';

export function describeRepeatedTurns(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: turns with an idempotency key`, () => {
    it('answer a repetition with the stored reply', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { idempotencyKey: once('k') });
      await store.endTurn(project, turn, turnReply({ content: 'whole' }));
      const again = await store.beginTurn(
        project,
        turnStart({ idempotencyKey: once('k'), lease: { owner: 'owner-2', ms: 60_000 } }),
      );
      expect(again).toMatchObject({
        kind: 'answered',
        turn: { ...turn, owner: 'owner-2', epoch: expect.any(Number) },
        reply: { content: 'whole' },
      });
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('k', 'other') }))).toEqual({
        kind: 'mismatch',
      });
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello', 'stop: whole']);
    });

    it('tell the mode of their message by the key, also when it is undone, and to their own project alone', async () => {
      const store = await open();
      const project = await newProject(store);
      expect(await store.modeOfTurn(project, once('k'))).toBeNull();
      const { session_id, ...turn } = await begin(store, project, {
        idempotencyKey: once('k'),
        mode: 'first',
      });
      expect(await store.modeOfTurn(project, once('k'))).toBe('first');
      await store.endTurn(project, { session_id, ...turn }, turnReply({ mode: 'fallback' }));
      const next = await begin(store, project, { session_id, mode: 'second' });
      await store.endTurn(project, next, turnReply());
      expect(await store.modeOfTurn(project, once('k'))).toBe('first');
      const move = { session_id, now: startOfTime, deadOwner: null, idempotencyKey: null };
      await store.undoTurn(project, { ...move, closing_message_id: newId('msg') });
      await store.undoTurn(project, { ...move, closing_message_id: newId('msg') });
      expect(await store.modeOfTurn(project, once('k'))).toBe('first');
      expect(await store.modeOfTurn(await newProject(store), once('k'))).toBeNull();
      const session = { session_id: newId('ses'), title: null, now: startOfTime };
      await store.createSession(project, session, once('other'));
      expect(await store.modeOfTurn(project, once('other'))).toBeNull();
    });

    it('are busy for a repetition while they run', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id, epoch } = await begin(store, project, { idempotencyKey: once('k') });
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('k') }))).toEqual({
        ...{ kind: 'busy', session_id, owner: 'owner-1', epoch },
      });
    });

    it.each(['error', 'interrupted'] as const)(
      'that ended in %s begin again with the stored message',
      async (finish_reason) => {
        const store = await open();
        const project = await newProject(store);
        const turn = await begin(store, project, { idempotencyKey: once('k') });
        await store.endTurn(project, turn, turnReply({ content: 'who', finish_reason }));
        const lease = { owner: 'owner-2', ms: 60_000 };
        const again = await begin(store, project, { idempotencyKey: once('k'), content: 'ignored', lease });
        expect(again).toEqual({ ...turn, owner: 'owner-2', epoch: again.epoch });
        expect(again.epoch).toBeGreaterThan(turn.epoch);
        expect(await store.beginTurn(project, turnStart({ session_id: turn.session_id }))).toMatchObject({
          kind: 'busy',
          owner: 'owner-2',
        });
        expect(await store.endTurn(project, again, turnReply({ content: 'whole' }))).toEqual({
          ...{ kind: 'kept', message_count: 2 },
        });
        expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello', 'stop: whole']);
        expect(await begin(store, project, { session_id: turn.session_id })).toMatchObject({ position: 2 });
      },
    );

    it('begin again in the middle of a session, and change no later message', async () => {
      const store = await open();
      const project = await newProject(store);
      const cut = await begin(store, project, { idempotencyKey: once('k') });
      const { session_id } = cut;
      await store.endTurn(project, cut, turnReply({ content: 'who', finish_reason: 'error' }));
      const next = await begin(store, project, { session_id, content: 'Next' });
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('k') }))).toMatchObject({
        kind: 'busy',
      });
      await store.endTurn(project, next, turnReply({ content: 'next' }));
      const again = await begin(store, project, { idempotencyKey: once('k') });
      expect(again.position).toBe(0);
      await store.endTurn(project, again, turnReply({ content: 'whole' }));
      expect(await contents(store, project, session_id)).toEqual([
        'user: Hello',
        'stop: whole',
        'user: Next',
        'stop: next',
      ]);
    });

    it('begin again when their owner is gone, without an interrupted reply in between', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { idempotencyKey: once('k') });
      const again = await begin(store, project, {
        idempotencyKey: once('k'),
        deadOwner: 'owner-1',
        lease: { owner: 'owner-2', ms: 60_000 },
      });
      expect(again).toEqual({ ...turn, owner: 'owner-2', epoch: again.epoch });
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello']);
      // Neither late reply is stored while the other owner runs the turn, and neither ends that turn.
      for (const finish_reason of ['stop', 'interrupted'] as const) {
        const late = turnReply({ content: 'late', finish_reason });
        expect(await store.endTurn(project, turn, late)).toEqual({ kind: 'lost', standing: null });
      }
      expect(await store.renewTurn(project, turn, 60_000)).toBe(false);
      const whole = turnReply({ content: 'whole' });
      expect(await store.endTurn(project, again, whole)).toEqual({ kind: 'kept', message_count: 2 });
      expect(await store.endTurn(project, turn, turnReply({ content: 'late' }))).toMatchObject({
        ...{ kind: 'lost', standing: { message_id: whole.message_id, content: 'whole' } },
      });
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello', 'stop: whole']);
    });

    it('that another owner took and left with a cut reply keep a late whole reply, but no late part', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { idempotencyKey: once('k') });
      const again = await begin(store, project, { idempotencyKey: once('k'), deadOwner: 'owner-1' });
      const cut = turnReply({ content: 'cut', finish_reason: 'error' });
      await store.endTurn(project, again, cut);
      const part = turnReply({ content: 'part', finish_reason: 'interrupted' });
      expect(await store.endTurn(project, turn, part)).toMatchObject({
        ...{ kind: 'lost', standing: { message_id: cut.message_id } },
      });
      const late = turnReply({ content: 'late' });
      expect(await store.endTurn(project, turn, late)).toEqual({ kind: 'kept', message_count: 2 });
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello', 'stop: late']);
      const reply = { message_id: late.message_id };
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('k') }))).toMatchObject({
        ...{ kind: 'answered', reply },
      });
    });

    it('close a later abandoned turn before they begin again', async () => {
      const store = await open();
      const project = await newProject(store);
      const cut = await begin(store, project, { idempotencyKey: once('k') });
      const { session_id } = cut;
      await store.endTurn(project, cut, turnReply({ content: 'who', finish_reason: 'error' }));
      await beginWithEndedLease(store, project, { session_id, content: 'Lost' });
      const again = await begin(store, project, { idempotencyKey: once('k') });
      expect(again.position).toBe(0);
      expect(await contents(store, project, session_id)).toEqual([
        ...['user: Hello', 'error: who', 'user: Lost', 'interrupted: '],
      ]);
    });

    it('are not found in a session that was deleted meanwhile, whatever their end was', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project, { idempotencyKey: once('k') });
      await store.endTurn(project, turn, turnReply());
      await store.deleteSession(project, turn.session_id, startOfTime);
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('k') }))).toEqual({
        kind: 'not_found',
      });
    });

    it('record nothing when they do not begin', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await begin(store, project);
      const start = turnStart({ session_id, idempotencyKey: once('k', 'one') });
      expect(await store.beginTurn(project, start)).toMatchObject({ kind: 'busy' });
      const other = turnStart({ idempotencyKey: once('k', 'two') });
      expect(await store.beginTurn(project, other)).toMatchObject({ kind: 'begun' });
    });
  });
}
