// Reads all rows of a store page by page, for copies and backups. A read rejects with the reason of `signal` once that fires.
import type { AuditRow, IdempotencyRow, PartPage, ProjectRow, StoreRowReads } from '../store/store-rows.ts';

export function auditPages(rows: StoreRowReads, signal: AbortSignal): AsyncGenerator<readonly AuditRow[]> {
  return pagesOf(
    (after) => rows.readAudit(after),
    0,
    ({ number }) => number,
    signal,
  );
}

export function idempotencyPages(
  rows: StoreRowReads,
  projectId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly IdempotencyRow[]> {
  const read = (after: string | null) => rows.readIdempotency(projectId, after);
  return pagesOf<IdempotencyRow, string | null>(read, null, ({ key }) => key, signal);
}

async function* pagesOf<Row, Place>(
  read: (after: Place) => Promise<readonly Row[]>,
  start: Place,
  placeOf: (last: Row) => Place,
  signal: AbortSignal,
): AsyncGenerator<readonly Row[]> {
  for (let after = start; ; ) {
    signal.throwIfAborted();
    const page = await read(after);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    after = placeOf(last);
  }
}

export async function countSessions(rows: StoreRowReads, projects: readonly ProjectRow[]): Promise<number> {
  let sessions = 0;
  for (const { project_id } of projects) sessions += (await rows.count(project_id)).sessions;
  return sessions;
}

/** How many sessions end on a page. The last session of a page may continue on the next page. */
export function countEndedSessions({ parts, next }: PartPage): number {
  const continues =
    next !== null && next.message !== null && parts.at(-1)?.session.session_id === next.session_id;
  return parts.length - (continues ? 1 : 0);
}
