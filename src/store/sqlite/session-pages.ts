// Pages of sessions. A page begins by searching an index for where the last one ended: the thousandth costs what the first does. What
// no index bounds (titles; activity in the order of creation) is tested row by row, so many rows a step.
import type { Session } from '../../service/session.ts';
import type { SessionOrder } from '../../service/session-archive.ts';
import type { SessionRow } from '../rows.ts';
import { toSession } from '../rows.ts';
import type { Rows, SessionFilter } from '../session-filters.ts';
import type { Connection } from './connection.ts';
import { inProject, sessionColumns } from './sessions.ts';
import type { Steps } from './steps.ts';
import { titleGlob } from './title-glob.ts';

/** About half a millisecond's work. */
const rowsOfStep = 500;

const columnOf = { updated: 'updated_at', created: 'created_at' } as const;

// How far a page may reach; where it begins is a condition of its own. No session is active before it was created, so that
// `updatedBefore` bounds its creation as well.
const reach = {
  updated: { desc: 'updated_at >= @updatedAfter', asc: 'updated_at < @updatedBefore' },
  created: { desc: 'TRUE', asc: 'created_at < @updatedBefore' },
} as const;

// A page begins at one bound over two columns: given two bounds, SQLite would search by one and test the other row by row. Sessions with
// the same time are ordered by their ids, not by their row numbers: the order is then the same wherever they were imported.
function inOrder(sort: SessionOrder['sort'], order: SessionOrder['order'], deleted: boolean) {
  const column = columnOf[sort];
  const ordered = `ORDER BY ${column} ${order}, session_id ${order}`;
  const from = `
    FROM sessions WHERE ${inProject} AND deleted_at IS ${deleted ? 'NOT NULL' : 'NULL'}
      AND (${column}, session_id) ${order === 'desc' ? '<' : '>'} (@time, @id) AND ${reach[sort][order]}
    ${ordered}`;
  return {
    page: `SELECT ${sessionColumns} ${from} LIMIT @limit`,
    // What passes of the next rows. SQLite keeps the order of the inner part, and sorts nothing.
    step: `
      SELECT * FROM (SELECT ${sessionColumns} ${from} LIMIT ${rowsOfStep})
      WHERE updated_at >= @updatedAfter AND updated_at < @updatedBefore
        AND (@titleMatch IS NULL OR title GLOB @titleMatch)
      ${ordered} LIMIT @limit`,
    // The last of the next rows, where there are so many.
    stepEnd: `SELECT ${column} AS time, session_id AS id ${from} LIMIT 1 OFFSET ${rowsOfStep - 1}`,
  } as const;
}

const ofAll = (sort: SessionOrder['sort'], order: SessionOrder['order']) =>
  ({ active: inOrder(sort, order, false), deleted: inOrder(sort, order, true) }) as const;

export const sessionListings = {
  updated: { desc: ofAll('updated', 'desc'), asc: ofAll('updated', 'asc') },
  created: { desc: ofAll('created', 'desc'), asc: ofAll('created', 'asc') },
} as const;

/** A place between two rows. An empty id comes before all those of its time. */
interface Place {
  readonly time: number;
  readonly id: string;
}

/** Whether an index bounds all that a page reads: then it is one step. */
export function isBounded({ sort, titleMatch, updatedBefore, updatedAfter }: SessionFilter): boolean {
  return titleMatch === null && (sort === 'updated' || (updatedBefore === null && updatedAfter === null));
}

export function* listSessions(
  connection: Connection,
  projectId: string,
  filter: SessionFilter,
): Steps<Rows<Session>> {
  const { deleted, limit, sort, order } = filter;
  const statements = sessionListings[sort][order][deleted ? 'deleted' : 'active'];
  const updatedBefore = filter.updatedBefore ?? Number.MAX_SAFE_INTEGER;
  const updatedAfter = filter.updatedAfter ?? Number.MIN_SAFE_INTEGER;
  const titleMatch = filter.titleMatch && titleGlob(filter.titleMatch);
  const bindings = { projectId, updatedBefore, updatedAfter, titleMatch };
  const rows: SessionRow[] = [];
  let place: Place | undefined = beginning(filter, updatedBefore, updatedAfter);
  if (isBounded(filter)) {
    rows.push(...connection.all<SessionRow>(statements.page, { ...bindings, ...place, limit: limit + 1 }));
  } else {
    while (place !== undefined) {
      const wanted = limit + 1 - rows.length;
      rows.push(...connection.all<SessionRow>(statements.step, { ...bindings, ...place, limit: wanted }));
      if (rows.length > limit) break;
      place = connection.get<Place>(statements.stepEnd, { ...bindings, ...place });
      if (place !== undefined) yield;
    }
  }
  return { items: rows.slice(0, limit).map(toSession), hasMore: rows.length > limit };
}

/** Where the last page ended, or the bound of the filter where that is narrower. */
function beginning(filter: SessionFilter, before: number, after: number): Place {
  // A session that was active after a time may have been created at any.
  const bound =
    filter.order === 'desc' ? before : filter.sort === 'updated' ? after : Number.MIN_SAFE_INTEGER;
  if (filter.after === null) return { time: bound, id: '' };
  const { time, sessionId } = filter.after;
  const isNarrower = filter.order === 'desc' ? time < bound : time >= bound;
  return isNarrower ? { time, id: sessionId } : { time: bound, id: '' };
}
