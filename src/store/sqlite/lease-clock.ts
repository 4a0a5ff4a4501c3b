// The clock of leases: the time in ms since this machine started. All processes of the machine share it (CLOCK_MONOTONIC on Linux; macOS
// and Windows have similar clocks). The time of day does not count: it may jump by an hour, and a lease must not follow. One machine's
// clock is enough, because one kernel runs all processes that use a SQLite store: the log (WAL) needs memory that they share, and network
// file systems are refused. Containers of one machine share its kernel and this clock.
//
// After a restart of the machine the clock begins at 0 again. An older lease then seems to end far in the future. A lease with more time
// left than any lease gets is therefore over. (On Linux the owner's name holds the id of the boot and shows the restart too.) The clock may
// stand still while the machine sleeps; no process of the machine can take a turn then. If none of this holds, a lease may be judged over
// too early: the turn is taken, its epoch rises, and the former holder learns that it has lost the turn.
import { longestLeaseMs } from '../session-store.ts';

/** The end of a lease (ms of this clock) that begins at `clock`. A longer lease than {@link longestLeaseMs} is cut to that. */
export function leaseEnd(clock: number, leaseMs: number): number {
  return Math.round(clock + Math.min(leaseMs, longestLeaseMs));
}

/** True if the lease ended at or before `clock`, or has more time left than any lease gets. */
export function isLeaseOver(until: number, clock: number): boolean {
  return until <= clock || until > clock + longestLeaseMs + 1;
}

/** {@link isLeaseOver} as SQL, for a statement with the value `@clock`. */
const leaseIsOver = `(turn_until <= @clock OR turn_until > @clock + ${longestLeaseMs + 1})`;
/** SQL for a row of `sessions`, with the value `@clock`: true if a turn runs in it. */
export const turnRuns = `(turn_owner IS NOT NULL AND NOT ${leaseIsOver})`;
/** The opposite of {@link turnRuns}. */
export const noTurnRuns = `(turn_owner IS NULL OR ${leaseIsOver})`;
