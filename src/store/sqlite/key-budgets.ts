// The use of keys: the last one, and the turns and tokens of each day. Days before yesterday are deleted.
import { dayMs, type KeyBudgets, type Reservation } from '../key-budgets.ts';
import { type BudgetRow, leftOf } from '../rows.ts';
import type { StoreAccess } from './store-access.ts';
import { storeItself } from './writer.ts';

const budgetStatements = {
  reserve: `
    INSERT INTO key_usage (key, day, turns, tokens)
    SELECT id, @day, 1, @tokens FROM api_keys
    WHERE hash = @hash
    ON CONFLICT (key, day) DO UPDATE SET turns = turns + 1, tokens = tokens + excluded.tokens
    WHERE turns < (SELECT coalesce(turns_per_day, turns + 1) FROM api_keys WHERE id = key)
      AND tokens < (SELECT coalesce(tokens_per_day, tokens + 1) FROM api_keys WHERE id = key)`,
  left: `
    SELECT turns_per_day, tokens_per_day, turns, tokens
    FROM api_keys LEFT JOIN key_usage ON key_usage.key = api_keys.id AND key_usage.day = @day WHERE hash = @hash`,
  forget: 'DELETE FROM key_usage WHERE key = (SELECT id FROM api_keys WHERE hash = @hash) AND day < @day - 1',
  settle: `
    UPDATE key_usage SET turns = max(0, turns + @turns), tokens = max(0, tokens + @tokens)
    WHERE key = (SELECT id FROM api_keys WHERE hash = @hash) AND day = @day`,
  recordUse:
    'UPDATE api_keys SET last_used_at = @time WHERE hash = @hash AND coalesce(last_used_at, 0) < @time',
} as const;

export function keyBudgets(access: StoreAccess, timeOfDay: () => number): KeyBudgets {
  return {
    reserve: (hash, tokens) =>
      access.write(storeItself, (connection): Reservation => {
        const now = timeOfDay();
        const day = Math.floor(now / dayMs);
        if (connection.run(budgetStatements.reserve, { hash, day, tokens }).changes > 0) {
          connection.run(budgetStatements.forget, { hash, day });
          return { kind: 'counted', day };
        }
        const row = connection.get<BudgetRow>(budgetStatements.left, { hash, day });
        if (row === undefined) return { kind: 'counted', day };
        return { kind: 'used_up', left: leftOf(row), endsInMs: (day + 1) * dayMs - now };
      }),
    settle: (hash, usage) =>
      access.write(storeItself, (connection) => {
        connection.run(budgetStatements.settle, { hash, ...usage });
      }),
    recordUse(hash, time) {
      const { connection, writer } = access;
      const write = () => {
        connection.run(budgetStatements.recordUse, { hash, time });
      };
      return access.run(() => writer.write(write, { party: storeItself, waitMs: 0 }));
    },
  };
}
