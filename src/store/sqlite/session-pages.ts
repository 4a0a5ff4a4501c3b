// Pages of sessions. A page begins with an index search for the end of the last page, so the thousandth page costs as much as the first.
// Conditions without an index (title; end of the id; activity in the order of creation) are tested row by row, a fixed number of rows per step.
import type { Session } from '../../service/session.ts';
import type { SessionOrder } from '../../service/session-archive.ts';
import { PageRoom, textsOf } from '../page-room.ts';
import type { SessionRow } from '../rows.ts';
import { toSession } from '../rows.ts';
import type { Rows, SessionFilter } from '../session-filters.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { inProject, sessionColumns } from './sessions.ts';
import type { Steps } from './steps.ts';
import { titleGlob } from './title-glob.ts';

/** How many rows a step tests, and how many ids in the index alone: about half a millisecond's work. */
const rowsOfStep = 500;
const idsOfStep = 4000;

const columnOf = { updated: 'updated_at', created: 'created_at' } as const;

// The condition for the far end of a page; the near end is a condition of its own. A session is never active before its creation, so
// `updatedBefore` bounds the creation time too.
const reach = {
  updated: { desc: 'updated_at >= @updatedAfter', asc: 'updated_at < @updatedBefore' },
  created: { desc: 'TRUE', asc: 'created_at < @updatedBefore' },
} as const;

// A page has one near bound over two columns: with two bounds SQLite would search by one and test the other row by row. Sessions with equal
// times are ordered by their ids, not by row numbers, so the order does not depend on the store into which they were imported.
function inOrder(sort: SessionOrder['sort'], order: SessionOrder['order'], deleted: boolean) {
  const column = columnOf[sort];
  const from = `
    FROM sessions WHERE ${inProject} AND deleted_at IS ${deleted ? 'NOT NULL' : 'NULL'}
      AND (${column}, session_id) ${order === 'desc' ? '<' : '>'} (@time, @id) AND ${reach[sort][order]}
    ORDER BY ${column} ${order}, session_id ${order}`;
  return {
    page: `SELECT ${sessionColumns} ${from} LIMIT @limit`,
    // The next rows that pass the filter. SQLite keeps the order of the inner query and does not sort. Of the rows that do not pass, the
    // settings are not read, because they may be long.
    step: `
      SELECT ${sessionColumns} FROM (
        SELECT id AS row, session_id AS name, title AS heading, updated_at AS updated, created_at AS created ${from}
        LIMIT ${rowsOfStep}
      ) CROSS JOIN sessions ON sessions.id = row
      WHERE updated >= @updatedAfter AND updated < @updatedBefore
        AND (@titleMatch IS NULL OR heading GLOB @titleMatch)
      ORDER BY ${sort} ${order}, name ${order} LIMIT @limit`,
    // The same with the end of an id, which is tested in the index alone: that is several times as fast as reading the rows.
    stepOfSuffix: `
      SELECT ${sessionColumns} FROM (SELECT session_id AS name, ${column} AS time ${from} LIMIT ${idsOfStep})
      CROSS JOIN sessions ON sessions.session_id = name
      WHERE name GLOB @idEnd AND ${inProject} AND updated_at >= @updatedAfter AND updated_at < @updatedBefore
        AND (@titleMatch IS NULL OR title GLOB @titleMatch)
      ORDER BY time ${order}, name ${order} LIMIT @limit`,
    // The last row of a step, if there are that many.
    stepEnd: `SELECT ${column} AS time, session_id AS id ${from} LIMIT 1 OFFSET ${rowsOfStep - 1}`,
    stepOfSuffixEnd: `SELECT ${column} AS time, session_id AS id ${from} LIMIT 1 OFFSET ${idsOfStep - 1}`,
  } as const;
}

const ofAll = (sort: SessionOrder['sort'], order: SessionOrder['order']) =>
  ({ active: inOrder(sort, order, false), deleted: inOrder(sort, order, true) }) as const;

export const sessionListings = {
  updated: { desc: ofAll('updated', 'desc'), asc: ofAll('updated', 'asc') },
  created: { desc: ofAll('created', 'desc'), asc: ofAll('created', 'asc') },
} as const;

/** A place between two rows. An empty id stands before all ids of its time. */
interface Place {
  readonly time: number;
  readonly id: string;
}

/** True if an index bounds everything that a page reads. The page is then one step. */
function isBounded(filter: SessionFilter): boolean {
  const { sort, titleMatch, idSuffix, updatedBefore, updatedAfter } = filter;
  if (titleMatch !== null || idSuffix !== null) return false;
  return sort === 'updated' || (updatedBefore === null && updatedAfter === null);
}

export function* listSessions(
  connection: Connection,
  projectId: string,
  filter: SessionFilter,
): Steps<Rows<Session>> {
  const { deleted, limit, sort, order, idSuffix } = filter;
  const statements = sessionListings[sort][order][deleted ? 'deleted' : 'active'];
  const updatedBefore = filter.updatedBefore ?? Number.MAX_SAFE_INTEGER;
  const updatedAfter = filter.updatedAfter ?? Number.MIN_SAFE_INTEGER;
  const titleMatch = filter.titleMatch && titleGlob(filter.titleMatch);
  const bindings = { projectId, updatedBefore, updatedAfter, titleMatch, idEnd: `*${idSuffix}` };
  const rows: SessionRow[] = [];
  const room = new PageRoom(1);
  let isFull = false;
  const read = (sql: string, more: Bindings) =>
    connection.allWhile<SessionRow>(sql, { ...bindings, ...more }, (row) => {
      isFull ||= !room.take(...textsOf(row));
      return !isFull;
    });
  let place: Place | undefined = beginning(filter, updatedBefore, updatedAfter);
  if (isBounded(filter)) {
    rows.push(...read(statements.page, { ...place, limit: limit + 1 }));
  } else {
    const [step, stepEnd] =
      idSuffix === null
        ? [statements.step, statements.stepEnd]
        : [statements.stepOfSuffix, statements.stepOfSuffixEnd];
    while (place !== undefined) {
      const wanted = limit + 1 - rows.length;
      rows.push(...read(step, { ...place, limit: wanted }));
      if (isFull || rows.length > limit) break;
      place = connection.get<Place>(stepEnd, { ...bindings, ...place });
      if (place !== undefined) yield;
    }
  }
  return { items: rows.slice(0, limit).map(toSession), hasMore: isFull || rows.length > limit };
}

/** The end of the last page, or the bound of the filter if it is narrower. */
function beginning(filter: SessionFilter, before: number, after: number): Place {
  // A session that was active after a certain time may have been created at any time.
  const bound =
    filter.order === 'desc' ? before : filter.sort === 'updated' ? after : Number.MIN_SAFE_INTEGER;
  if (filter.after === null) return { time: bound, id: '' };
  const { time, sessionId } = filter.after;
  const isNarrower = filter.order === 'desc' ? time < bound : time >= bound;
  return isNarrower ? { time, id: sessionId } : { time: bound, id: '' };
}
