// The use of keys: the last one, and the turns and tokens of each day. The row of a day is the lock of all servers. Days before yesterday
// are deleted.
import { type DayUsage, dayMs, type KeyBudgets, type Reservation } from '../key-budgets.ts';
import { type BudgetRow, leftOf } from '../rows.ts';
import type { RunCall } from './run-call.ts';
import { nowMs, statement } from './statement.ts';

const reserve = statement(`
  WITH given AS MATERIALIZED (
    SELECT id, turns_per_day, tokens_per_day, (${nowMs} / ${dayMs})::integer AS today
    FROM parley.api_keys WHERE hash = $1
  ), forgotten AS (
    DELETE FROM parley.key_usage WHERE key = (SELECT id FROM given) AND day < (SELECT today - 1 FROM given)
  )
  INSERT INTO parley.key_usage AS used (key, day, turns, tokens)
  SELECT id, today, 1, $2::bigint FROM given
  ON CONFLICT (key, day) DO UPDATE SET turns = used.turns + 1, tokens = used.tokens + excluded.tokens
  WHERE used.turns < (SELECT coalesce(turns_per_day, used.turns + 1) FROM given)
    AND used.tokens < (SELECT coalesce(tokens_per_day, used.tokens + 1) FROM given)
  RETURNING day`);
const left = statement(`
  SELECT turns_per_day, tokens_per_day, turns, tokens, moment.ms
  FROM parley.api_keys AS given CROSS JOIN (SELECT ${nowMs} AS ms) AS moment
  LEFT JOIN parley.key_usage AS used ON used.key = given.id AND used.day = moment.ms / ${dayMs} WHERE given.hash = $1`);
const settle = statement(`
  UPDATE parley.key_usage SET turns = greatest(0, turns + $3), tokens = greatest(0, tokens + $4::bigint)
  WHERE key = (SELECT id FROM parley.api_keys WHERE hash = $1) AND day = $2`);
// After a lost connection: if the first sending did nothing, the turn keeps its estimate.
const settledOnce = statement('SELECT $1::bytea, $2::integer, $3::bigint, $4::bigint');
const recordUse = statement(`
  UPDATE parley.api_keys SET last_used_at = $2::bigint WHERE hash = $1 AND coalesce(last_used_at, 0) < $2::bigint`);

export class PostgresKeyBudgets implements KeyBudgets {
  readonly #run: RunCall;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(run: RunCall) {
    this.#run = run;
  }

  reserve(hash: Uint8Array, tokens: number): Promise<Reservation> {
    const key = Buffer.from(hash);
    return this.#run(async (ask) => {
      const [counted] = await ask<{ readonly day: number }>(reserve, [key, tokens]);
      if (counted !== undefined) return { kind: 'counted', day: counted.day };
      const [row] = await ask<BudgetRow & { readonly ms: number }>(left, [key]);
      if (row === undefined) return { kind: 'counted', day: 0 };
      return { kind: 'used_up', left: leftOf(row), endsInMs: dayMs - (row.ms % dayMs) };
    });
  }

  async settle(hash: Uint8Array, { day, turns, tokens }: DayUsage): Promise<void> {
    await this.#run((ask) => ask(settle, [Buffer.from(hash), day, turns, tokens], settledOnce));
  }

  async recordUse(hash: Uint8Array, time: number): Promise<void> {
    const writing = this.#run((ask) => ask(recordUse, [Buffer.from(hash), time]));
    this.#writing = writing.catch(() => {});
    await writing;
  }

  async idle(): Promise<void> {
    await this.#writing;
  }
}
