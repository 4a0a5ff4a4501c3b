// The clock, in ms, that measures the age of idempotency keys. It moves with the time of day, but never faster than the time since the
// machine started, so that keys survive a time of day that is set forward by a day. Its state is stored with the values of both clocks.
// After a restart of the machine only the time of day counts. The time since the start may stand still while the machine sleeps. Keys then
// live longer.
import type { Connection } from './connection.ts';

export interface Clocks {
  /** The time of day: epoch milliseconds. */
  readonly now: number;
  /** The time since the machine started, in ms. */
  readonly clock: number;
}

interface AgeState extends Clocks {
  /** The time of this clock, in ms. */
  readonly age: number;
}

/** The least time between two writes of the state, in ms. */
const storeIntervalMs = 60_000;

const ageClockStatements = {
  get: `SELECT value FROM meta WHERE name = 'age clock'`,
  set: `INSERT INTO meta (name, value) VALUES ('age clock', @value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const;

/** The time of the clock (ms). It starts at the time of day. Call it inside a transaction that writes, because it may store its state. */
export function ageTime(connection: Connection, { now, clock }: Clocks): number {
  const row = connection.get<{ value: string }>(ageClockStatements.get);
  const stored: AgeState | null = row === undefined ? null : JSON.parse(row.value);
  const elapsed = stored === null ? 0 : elapsedSince(stored, { now, clock });
  const age = stored === null ? now : stored.age + elapsed;
  const isSetBack = stored !== null && (now < stored.now || clock < stored.clock);
  if (stored === null || elapsed >= storeIntervalMs || isSetBack) {
    const value = JSON.stringify({ age, now, clock } satisfies AgeState);
    connection.run(ageClockStatements.set, { value });
  }
  return age;
}

function elapsedSince(stored: Clocks, { now, clock }: Clocks): number {
  const elapsedOfDay = Math.max(0, now - stored.now);
  const isSameStart = clock >= stored.clock;
  return isSameStart ? Math.min(elapsedOfDay, clock - stored.clock) : elapsedOfDay;
}
