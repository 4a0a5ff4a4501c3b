// The use of keys: the last one, and the turns and tokens of each day. Days before yesterday are deleted.
import { type DayUsage, dayMs, type KeyBudgets, type Reservation } from '../key-budgets.ts';
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

export class SqliteKeyBudgets implements KeyBudgets {
  readonly #access: StoreAccess;
  readonly #now: () => number;

  constructor(access: StoreAccess, now: () => number) {
    this.#access = access;
    this.#now = now;
  }

  reserve(hash: Uint8Array, tokens: number): Promise<Reservation> {
    return this.#access.write(storeItself, (connection) => {
      const now = this.#now();
      const day = Math.floor(now / dayMs);
      if (connection.run(budgetStatements.reserve, { hash, day, tokens }).changes > 0) {
        connection.run(budgetStatements.forget, { hash, day });
        return { kind: 'counted', day };
      }
      const row = connection.get<BudgetRow>(budgetStatements.left, { hash, day });
      if (row === undefined) return { kind: 'counted', day };
      return { kind: 'used_up', left: leftOf(row), endsInMs: (day + 1) * dayMs - now };
    });
  }

  settle(hash: Uint8Array, use: DayUsage): Promise<void> {
    return this.#access.write(storeItself, (connection) => {
      connection.run(budgetStatements.settle, { hash, ...use });
    });
  }

  recordUse(hash: Uint8Array, time: number): Promise<void> {
    const { connection, writer } = this.#access;
    const write = () => {
      connection.run(budgetStatements.recordUse, { hash, time });
    };
    return this.#access.run(() => writer.write(write, { party: storeItself, waitMs: 0 }));
  }
}
