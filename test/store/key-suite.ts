// What every store records about a key: its limits, its last use, and the use of its budgets of a day.
import { describe, expect, it } from 'vitest';
import { dayMs } from '../../src/store/key-budgets.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { at, newKey, once, startOfTime, turnReply, turnStart } from './store-samples.ts';

export function describeKeyLimits(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: limits of keys`, () => {
    it('keeps the limits of a key, and none of a key without', async () => {
      const store = await open();
      const limits = { scope: 'read', turns_per_day: 3, tokens_per_day: 5_000_000_000 } as const;
      const key = newKey({ ...limits, expires_at: startOfTime + 5 });
      const record = { ...limits, expires_at: at(5), last_used_at: null };
      expect(await store.createKey(key)).toMatchObject(record);
      expect(await store.findKey(key.hash)).toMatchObject(record);
      expect((await store.listKeys())[0]).toMatchObject(record);
      const none = { scope: null, turns_per_day: null, tokens_per_day: null, expires_at: null };
      expect(await store.createKey(newKey())).toMatchObject(none);
    });

    it('keeps the latest time of use', async () => {
      const store = await open();
      const key = newKey();
      await store.createKey(key);
      await store.budgets.recordUse(key.hash, startOfTime + 2);
      await store.budgets.recordUse(key.hash, startOfTime + 1);
      expect((await store.findKey(key.hash))?.last_used_at).toBe(at(2));
    });

    it('reports no use before the creation of the key, although only the hour of a use is stored', async () => {
      const store = await open();
      const key = newKey();
      await store.createKey(key);
      await store.budgets.recordUse(key.hash, startOfTime - 60_000);
      const found = await store.findKey(key.hash);
      expect(found?.last_used_at).toBe(found?.created_at);
    });

    it('counts the turns of a day up to the budget, however many come at once', async () => {
      const store = await open();
      const key = newKey({ turns_per_day: 7 });
      await store.createKey(key);
      const reserve = () => store.budgets.reserve(key.hash, 10);
      const all = await Promise.all(Array.from({ length: 40 }, reserve));
      const [counted] = all.filter((one) => one.kind === 'counted');
      expect(all.filter((one) => one.kind === 'counted')).toHaveLength(7);
      const over = all.find((one) => one.kind === 'used_up');
      expect(over).toMatchObject({ left: { turns: 0, tokens: null } });
      expect(over?.endsInMs).toBeGreaterThan(0);
      expect(over?.endsInMs).toBeLessThanOrEqual(dayMs);
      await store.budgets.settle(key.hash, { day: counted?.day ?? 0, turns: -1, tokens: -10 });
      expect([(await reserve()).kind, (await reserve()).kind]).toEqual(['counted', 'used_up']);
    });

    it('begins no turn once the tokens of a day are used', async () => {
      const store = await open();
      const key = newKey({ tokens_per_day: 100 });
      await store.createKey(key);
      const reserve = () => store.budgets.reserve(key.hash, 60);
      const [first, second] = [await reserve(), await reserve()];
      expect(second).toEqual(first);
      if (first.kind !== 'counted') throw new Error(first.kind);
      expect(await reserve()).toMatchObject({ kind: 'used_up', left: { turns: null, tokens: 0 } });
      await store.budgets.settle(key.hash, { day: first.day, turns: 0, tokens: -30 });
      expect(await reserve()).toEqual(first);
    });

    it('answers a repeated turn without a model, and begins no other', async () => {
      const store = await open();
      const key = newKey();
      const { project_id: project } = await store.createKey(key);
      const start = (request: string, others = {}) =>
        turnStart({ idempotencyKey: once(request, request), keyHash: key.hash, ...others });
      const begin = await store.beginTurn(project, start('whole'));
      if (begin.kind !== 'begun') throw new Error(begin.kind);
      await store.endTurn(project, begin.turn, turnReply({ content: 'stored' }));
      const cut = await store.beginTurn(project, start('cut'));
      if (cut.kind !== 'begun') throw new Error(cut.kind);
      await store.endTurn(project, cut.turn, turnReply({ finish_reason: 'interrupted' }));
      const answersOnly = { answersOnly: true };
      const { session_id } = begin.turn;
      const again = await store.beginTurn(project, start('whole', answersOnly));
      expect(again).toMatchObject({ kind: 'answered', reply: { content: 'stored' } });
      const others = [start('cut', answersOnly), start('new', answersOnly), turnStart(answersOnly)];
      for (const other of [...others, turnStart({ session_id, ...answersOnly })])
        expect(await store.beginTurn(project, other)).toEqual({ kind: 'over_budget' });
      const { mode, now, lease, deadOwner, closing_message_id } = turnStart();
      const regeneration = {
        session_id,
        mode,
        now,
        lease,
        deadOwner,
        closing_message_id,
        reply_id: 'msg_other',
      };
      expect(
        await store.beginRegeneration(project, { ...regeneration, idempotencyKey: null, ...answersOnly }),
      ).toEqual({ kind: 'over_budget' });
      expect(await store.findSession(project, session_id)).toMatchObject({ message_count: 2 });
    });
  });
}
