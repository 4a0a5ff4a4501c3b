// Pages of sessions. A page begins with an index search for the end of the last page, so the thousandth page costs as much as the first.
// Conditions that no search of an index answers (title; end of the id; mode; activity in the order of creation) are tested row by row, a
// fixed number of rows per step.
import type { Session } from '../../service/session.ts';
import type { SessionOrder } from '../../service/session-archive.ts';
import { PageBudget, textsOf } from '../page-budget.ts';
import type { SessionRow } from '../rows.ts';
import { toSession } from '../rows.ts';
import { type ListedState, type Rows, type SessionFilter, stateOf } from '../session-filters.ts';
import type { Connection } from './connection.ts';
import type { Bindings } from './driver.ts';
import { conditionBindings, meetsAll, meetsRest, selectBy } from './session-conditions.ts';
import { inProject, sessionColumns } from './sessions.ts';
import type { Steps } from './steps.ts';

/** How many rows a step tests, and how many ids and modes in the index alone: a millisecond's work. */
const rowsOfStep = 500;
const idsOfStep = 4000;
/** Fewer than ids, because a session of an earlier version has no mode in the index, and is read with its last message. */
const modesOfStep = 1000;
/**
 * How many sessions with a tag, of a user, or pinned, are sorted for a page: a few milliseconds' work. More are found in the order of the
 * listing.
 */
const fewSessions = 2000;

const columnOf = { updated: 'updated_at', created: 'created_at' } as const;

// The condition for the far end of a page; the near end is another condition. A session is never active before its creation, so
// `updatedBefore` bounds the creation time too.
const reach = {
  updated: { desc: 'updated_at >= @updatedAfter', asc: 'updated_at < @updatedBefore' },
  created: { desc: 'TRUE', asc: 'created_at < @updatedBefore' },
} as const;

const conditionOf = {
  listed: 'deleted_at IS NULL AND archived = 0',
  archived: 'deleted_at IS NULL AND archived = 1',
  active: 'deleted_at IS NULL',
  deleted: 'deleted_at IS NOT NULL',
} as const satisfies Record<ListedState, string>;

// A page has one near bound over two columns: with two bounds SQLite would search by one and test the other row by row. Sessions with equal
// times are ordered by their ids, not by row numbers, so the order does not depend on the store into which they were imported.
function inOrder(sort: SessionOrder['sort'], order: SessionOrder['order'], state: ListedState) {
  const column = columnOf[sort];
  const bounds = `(${column}, session_id) ${order === 'desc' ? '<' : '>'} (@time, @id) AND ${reach[sort][order]}`;
  const ordered = `ORDER BY ${column} ${order}, session_id ${order}`;
  const of = (one: ListedState) => `sessions WHERE ${inProject} AND ${conditionOf[one]} AND ${bounds}`;
  // SQLite merges two ordered indexes while it reads them.
  const from = (columns: string) =>
    state === 'active'
      ? `FROM (SELECT ${columns} FROM ${of('listed')} UNION ALL SELECT ${columns} FROM ${of('archived')}) ${ordered}`
      : `FROM ${of(state)} ${ordered}`;
  const columns = 'id, session_id, title, updated_at, created_at';
  const narrow = `session_id, ${column}`;
  // The rows that pass the filter. SQLite keeps the order of the inner query and does not sort. Of the rows that do not pass, the settings
  // are not read, because they may be long.
  const passing = (rows: string) => `
      SELECT ${sessionColumns} FROM (
        SELECT id AS row, session_id AS name, title AS heading, updated_at AS updated, created_at AS created ${rows}
      ) CROSS JOIN sessions ON sessions.id = row
      WHERE updated >= @updatedAfter AND updated < @updatedBefore
        AND (@titleMatch IS NULL OR heading GLOB @titleMatch) AND ${meetsRest}
      ORDER BY ${sort} ${order}, name ${order} LIMIT @limit`;
  // CROSS JOIN makes SQLite begin with the few. It would read the whole index of the order instead.
  const ofFew = (rows: string) =>
    passing(`FROM (${rows}) AS few CROSS JOIN ${of(state)} AND sessions.id = few.session`);
  return {
    page:
      state === 'active'
        ? `
      SELECT ${sessionColumns} FROM (SELECT id AS row, session_id AS name, ${column} AS time ${from(columns)} LIMIT @limit)
      CROSS JOIN sessions ON sessions.id = row ORDER BY time ${order}, name ${order}`
        : `SELECT ${sessionColumns} ${from('')} LIMIT @limit`,
    step: passing(`${from(columns)} LIMIT ${rowsOfStep}`),
    // The end of an id is tested in the index alone, which is several times as fast as reading the rows.
    stepOfSuffix: `
      SELECT ${sessionColumns} FROM (SELECT session_id AS name, ${column} AS time ${from(narrow)} LIMIT ${idsOfStep})
      CROSS JOIN sessions ON sessions.session_id = name
      WHERE name GLOB @idEnd AND ${inProject} AND ${meetsAll}
      ORDER BY time ${order}, name ${order} LIMIT @limit`,
    stepOfMode: `
      SELECT ${sessionColumns} FROM (
        SELECT session_id AS name, ${column} AS time, mode AS indexed_mode ${from(`${narrow}, mode`)} LIMIT ${modesOfStep}
      ) CROSS JOIN sessions ON sessions.session_id = name
      WHERE (indexed_mode IS NULL OR indexed_mode = @mode) AND ${inProject} AND ${meetsAll}
      ORDER BY time ${order}, name ${order} LIMIT @limit`,
    // The last row of a step, if there are that many.
    stepEnd: `SELECT ${column} AS time, session_id AS id ${from(narrow)} LIMIT 1 OFFSET ${rowsOfStep - 1}`,
    stepOfSuffixEnd: `SELECT ${column} AS time, session_id AS id ${from(narrow)} LIMIT 1 OFFSET ${idsOfStep - 1}`,
    stepOfModeEnd: `SELECT ${column} AS time, session_id AS id ${from(narrow)} LIMIT 1 OFFSET ${modesOfStep - 1}`,
    // Few sessions are read by their row numbers and sorted.
    tagged: ofFew(selectBy.tag),
    ofUser: ofFew(selectBy.user),
    pinned: ofFew(selectBy.pinned),
  } as const;
}

const listings = new Map<string, ReturnType<typeof inOrder>>();

/** The statements of a listing. They are written at their first use: all sixteen are 120 KB of text, and a start would wait for them. */
export function listingOf(sort: SessionOrder['sort'], order: SessionOrder['order'], state: ListedState) {
  const name = `${sort} ${order} ${state}`;
  let listing = listings.get(name);
  if (listing === undefined) {
    listing = inOrder(sort, order, state);
    listings.set(name, listing);
  }
  return listing;
}

/** Whether more sessions have a tag, are of a user, or are pinned, than are sorted at once. */
export const manyStatements = {
  tagged: `${selectBy.tag} LIMIT 1 OFFSET ${fewSessions}`,
  ofUser: `${selectBy.user} LIMIT 1 OFFSET ${fewSessions}`,
  pinned: `${selectBy.pinned} LIMIT 1 OFFSET ${fewSessions}`,
} as const;

/** A place between two rows. An empty id comes before all ids of its time. */
interface Place {
  readonly time: number;
  readonly id: string;
}

/** True if an index bounds everything that a page reads. The page is then one step. */
function isBounded(filter: SessionFilter): boolean {
  const { sort, titleMatch, idSuffix, updatedBefore, updatedAfter, mode, tag, user, pinned } = filter;
  if ([titleMatch, idSuffix, mode, tag, user, pinned].some((condition) => condition !== null)) return false;
  if (filter.deleted && filter.archived !== null) return false;
  return sort === 'updated' || (updatedBefore === null && updatedAfter === null);
}

export function* listSessions(
  connection: Connection,
  projectId: string,
  filter: SessionFilter,
): Steps<Rows<Session>> {
  const { limit, sort, order, idSuffix } = filter;
  const statements = listingOf(sort, order, stateOf(filter));
  const conditions = conditionBindings(filter);
  const bindings = { projectId, ...conditions, idEnd: `*${idSuffix}` };
  const rows: SessionRow[] = [];
  const budget = new PageBudget(1);
  let isFull = false;
  const read = (sql: string, more: Bindings) =>
    connection.allWhile<SessionRow>(sql, { ...bindings, ...more }, (row) => {
      isFull ||= !budget.take(...textsOf(row));
      return !isFull;
    });
  let place: Place | undefined = beginning(filter, conditions.updatedBefore, conditions.updatedAfter);
  const few = fewOf(connection, bindings, filter);
  if (isBounded(filter)) {
    rows.push(...read(statements.page, { ...place, limit: limit + 1 }));
  } else if (few !== null) {
    rows.push(...read(statements[few], { ...place, limit: limit + 1 }));
  } else {
    const step = idSuffix !== null ? 'stepOfSuffix' : filter.mode !== null ? 'stepOfMode' : 'step';
    while (place !== undefined) {
      const wanted = limit + 1 - rows.length;
      rows.push(...read(statements[step], { ...place, limit: wanted }));
      if (isFull || rows.length > limit) break;
      place = connection.get<Place>(statements[`${step}End`], { ...bindings, ...place });
      if (place !== undefined) yield;
    }
  }
  return { items: rows.slice(0, limit).map(toSession), hasMore: isFull || rows.length > limit };
}

/** The statement that begins with few sessions; null if there is none. */
function fewOf(
  connection: Connection,
  bindings: Bindings,
  { tag, user, pinned, idSuffix }: SessionFilter,
): 'tagged' | 'ofUser' | 'pinned' | null {
  if (idSuffix !== null) return null;
  const isFew = (sql: string) => connection.get(sql, bindings) === undefined;
  if (tag !== null && isFew(manyStatements.tagged)) return 'tagged';
  if (user !== null && isFew(manyStatements.ofUser)) return 'ofUser';
  return pinned && isFew(manyStatements.pinned) ? 'pinned' : null;
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
