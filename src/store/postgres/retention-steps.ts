// What retention reads and writes in sessions, in steps of one statement each. A step renews the lease of its run, and does nothing if the
// lease is gone.
import {
  type ActivityCursor,
  type ExpiryCursor,
  type ExpiryFilter,
  firstCursor,
  type LeasedRun,
  nextCursor,
  type RetentionStore,
  type RunStep,
} from '../retention-store.ts';
import { noteOf } from './audit.ts';
import type { Ask, ConnectionPool } from './connection-pool.ts';
import { beginErasing, eraseExpired, eraseLot, ofExpired } from './purge.ts';
import { expiryStatements } from './retention-rows.ts';

export interface Lot {
  readonly sessions: number;
  readonly found: number;
  readonly time: number | null;
  readonly session_id: string | null;
}

export async function expire(
  ask: Ask,
  { projectId, run, holder, leaseMs, by }: LeasedRun,
  filter: ExpiryFilter,
  from: ExpiryCursor | null,
): Promise<RunStep<ExpiryCursor>> {
  const { archived, after } = from ?? firstCursor;
  const { expire } = archived ? expiryStatements.archived : expiryStatements.listed;
  const note = noteOf('expire', projectId, by);
  const values = [...filterValues(projectId, filter, after), by.time, run, holder, leaseMs, note];
  const [lot] = await ask<Lot & { held: number }>(expire, values);
  if (lot === undefined || lot.held === 0) return null;
  return { sessions: lot.sessions, next: nextCursor(archived, lastOf(lot)) };
}

export async function erase(
  connections: Pick<ConnectionPool, 'ask' | 'transaction'>,
  { projectId, run, holder, leaseMs, by }: LeasedRun,
  deletedBefore: number,
  keptMs: number,
  onStep: Parameters<RetentionStore['erase']>[3],
): Promise<boolean> {
  const { ask } = connections;
  await ask(beginErasing, [null]);
  await ask(ofExpired.answers, [projectId, deletedBefore, keptMs]);
  for (;;) {
    const lot = await eraseLot(connections, {
      lock: ofExpired.lock,
      values: [projectId, deletedBefore, holder, leaseMs],
      erase: eraseExpired,
      eraseValues: [run, noteOf('purge', projectId, by)],
    });
    if (lot === null) return false;
    const isWanted = onStep(lot.sessions);
    if (lot.sessions === 0) return true;
    if (!isWanted) return false;
  }
}

export function filterValues(
  projectId: string,
  { end, restoredBefore }: ExpiryFilter,
  after: ActivityCursor,
) {
  return [projectId, restoredBefore, after.time, after.sessionId, end.time, end.sessionId];
}

/** Null if nothing was found, which is the end. */
export function lastOf(lot: Lot | undefined): ActivityCursor | null {
  if (lot === undefined || lot.time === null || lot.session_id === null) return null;
  return { time: lot.time, sessionId: lot.session_id };
}
