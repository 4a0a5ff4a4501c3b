// The clock, in ms, that measures the age of idempotency keys. It moves with the time of day, but never faster than the time since the
// machine started, so that keys survive a time of day that is set forward by a day. Its state is stored with the values of both clocks.
// After a restart of the machine only the time of day counts. The other clock may stop while the machine sleeps; keys then live longer.
import type { Connection } from './connection.ts';

export interface Clocks {
  /** The time of day: epoch milliseconds. */
  readonly now: number;
  /** The time since the machine started, in ms. */
  readonly clock: number;
}

interface Noted extends Clocks {
  readonly age: number;
}

/** The state is stored again after this time, not at every write. */
const notedMs = 60_000;

const ageClockStatements = {
  noted: `SELECT value FROM meta WHERE name = 'age clock'`,
  note: `INSERT INTO meta (name, value) VALUES ('age clock', @value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const;

/** The time of the clock (ms). It starts at the time of day. Call it inside a transaction that writes, because it may store its state. */
export function ageTime(connection: Connection, { now, clock }: Clocks): number {
  const row = connection.get<{ value: string }>(ageClockStatements.noted);
  const noted: Noted | null = row === undefined ? null : JSON.parse(row.value);
  const passed = noted === null ? 0 : passedSince(noted, { now, clock });
  const age = noted === null ? now : noted.age + passed;
  const isSetBack = noted !== null && (now < noted.now || clock < noted.clock);
  if (noted === null || passed >= notedMs || isSetBack) {
    const value = JSON.stringify({ age, now, clock } satisfies Noted);
    connection.run(ageClockStatements.note, { value });
  }
  return age;
}

function passedSince(noted: Clocks, { now, clock }: Clocks): number {
  const byDay = Math.max(0, now - noted.now);
  const isSameStart = clock >= noted.clock;
  return isSameStart ? Math.min(byDay, clock - noted.clock) : byDay;
}
