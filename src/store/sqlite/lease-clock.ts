// The clock of leases: the time since this machine started, in ms, which all of its processes share (CLOCK_MONOTONIC; the like on
// macOS and Windows). The time of day does not count: it is set back and forth by an hour, and a lease must not follow. A clock that
// all share is enough, because a store of SQLite is used by the processes of one kernel alone: its log (WAL) lives in memory that they
// share, and file systems of a network are refused. Containers of one machine have one kernel, and so one such clock.
//
// After a restart the clock begins again at 0. Then a lease of before may seem to end far in the future, so one that has more left than
// any lease is given is over, too. (On Linux the owner's name tells of the restart as well: it holds the id of the boot.) A machine
// that sleeps may stop the clock; nobody on it could take a turn meanwhile. Wherever all this does not hold, a lease may be judged
// over too early: then the turn is taken, its epoch rises, and whoever ran it learns that it has lost it.
import { longestLeaseMs } from '../session-store.ts';

export function leaseEnd(clock: number, leaseMs: number): number {
  return Math.round(clock + Math.min(leaseMs, longestLeaseMs));
}

export function isLeaseOver(until: number, clock: number): boolean {
  return until <= clock || until > clock + longestLeaseMs + 1;
}

/** The same as {@link isLeaseOver}, for a statement that is given `@clock`. */
export const leaseIsOver = `(turn_until <= @clock OR turn_until > @clock + ${longestLeaseMs + 1})`;
