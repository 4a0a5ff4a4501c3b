// Pages of sessions and of messages. A page begins by searching an index for where the last one ended: the thousandth costs
// what the first does.
import type { Message, Page, Session } from '../../service/session.ts';
import type { SessionOrder } from '../../service/session-archive.ts';
import { PageRoom } from '../page-room.ts';
import type { SessionFilter } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { messageCursor, readMessageCursor, readSessionCursor, sessionCursor } from './cursors.ts';
import type { MessageRow, SessionRow } from './rows.ts';
import { messageColumns, sessionColumns, toMessage, toSession } from './rows.ts';
import { inProject, thisSession } from './sessions.ts';

const columnOf = { updated: 'updated_at', created: 'created_at' } as const;

// How far a page may reach; where it begins is a condition of its own. In the order of creation, the activity is tested row by row: the
// plus keeps SQLite from using the index by activity, whose rows it would have to sort. No session is active before it was created, so
// that `updatedBefore` bounds its creation as well.
const reach = {
  updated: { desc: 'updated_at >= @updatedAfter', asc: 'updated_at < @updatedBefore' },
  created: {
    desc: '+updated_at >= @updatedAfter AND +updated_at < @updatedBefore',
    asc: 'created_at < @updatedBefore AND +updated_at >= @updatedAfter AND +updated_at < @updatedBefore',
  },
} as const;

// A page begins at one bound over two columns: given two bounds, SQLite would search by one and test the other row by row. Sessions with
// the same time are ordered by their ids, not by their row numbers: the order is then the same wherever they were imported.
function selectSessions(deleted: boolean, { sort, order }: SessionOrder, titled: boolean): string {
  const column = columnOf[sort];
  return `
    SELECT ${sessionColumns} FROM sessions
    WHERE ${inProject} AND deleted_at IS ${deleted ? 'NOT NULL' : 'NULL'}
      AND (${column}, session_id) ${order === 'desc' ? '<' : '>'} (@time, @id) AND ${reach[sort][order]}
      ${titled ? 'AND title GLOB @titleMatch' : ''}
    ORDER BY ${column} ${order}, session_id ${order} LIMIT @limit`;
}

const inOrder = (sort: SessionOrder['sort'], order: SessionOrder['order']) =>
  ({
    active: selectSessions(false, { sort, order }, false),
    activeTitled: selectSessions(false, { sort, order }, true),
    deleted: selectSessions(true, { sort, order }, false),
    deletedTitled: selectSessions(true, { sort, order }, true),
  }) as const;

export const sessionListings = {
  updated: { desc: inOrder('updated', 'desc'), asc: inOrder('updated', 'asc') },
  created: { desc: inOrder('created', 'desc'), asc: inOrder('created', 'asc') },
} as const;

// CROSS JOIN: the session first, always.
const messagesOfSession = `
  SELECT ${messageColumns} FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
  WHERE ${thisSession} AND deleted_at IS NULL`;

export const listingStatements = {
  activeRow: `SELECT id FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  messages: `${messagesOfSession} AND message.position > @after ORDER BY message.position LIMIT @limit`,
  history: `${messagesOfSession} AND message.position < @before ORDER BY message.position DESC LIMIT @limit`,
} as const;

export function listSessions(
  connection: Connection,
  projectId: string,
  filter: SessionFilter,
): Page<Session> {
  const { deleted, titleMatch, limit, sort, order } = filter;
  const name = `${deleted ? 'deleted' : 'active'}${titleMatch === null ? '' : 'Titled'}` as const;
  const updatedBefore = filter.updatedBefore ?? Number.MAX_SAFE_INTEGER;
  const updatedAfter = filter.updatedAfter ?? 0;
  const rows = connection.all<SessionRow>(sessionListings[sort][order][name], {
    projectId,
    ...beginning(filter, updatedBefore, updatedAfter),
    updatedBefore,
    updatedAfter,
    titleMatch: titleMatch ?? '',
    limit: limit + 1,
  });
  return toPage(rows, limit, toSession, (last) =>
    sessionCursor(filter, { time: last[columnOf[sort]], sessionId: last.session_id }),
  );
}

/** Where the last page ended, or the bound of the filter where that is narrower. An empty id comes before all those of its time. */
function beginning(
  filter: SessionFilter,
  before: number,
  after: number,
): { readonly time: number; readonly id: string } {
  // A session that was active after a time may have been created at any.
  const bound = filter.order === 'desc' ? before : filter.sort === 'updated' ? after : 0;
  if (filter.cursor === null) return { time: bound, id: '' };
  const { time, sessionId } = readSessionCursor(filter, filter.cursor);
  const isNarrower = filter.order === 'desc' ? time < bound : time >= bound;
  return isNarrower ? { time, id: sessionId } : { time: bound, id: '' };
}

export function listMessages(
  connection: Connection,
  projectId: string,
  sessionId: string,
  page: { readonly limit: number; readonly cursor: string | null },
): Page<Message> | null {
  const after = page.cursor === null ? -1 : readMessageCursor(page.cursor);
  const room = new PageRoom(1);
  let isCut = false;
  const bindings = { projectId, sessionId, after, limit: page.limit + 1 };
  const rows = connection.allWhile<MessageRow>(listingStatements.messages, bindings, ({ content }) => {
    const fits = room.take(content);
    isCut = !fits;
    return fits;
  });
  if (
    rows.length === 0 &&
    connection.get(listingStatements.activeRow, { projectId, sessionId }) === undefined
  )
    return null;
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = (isCut || rows.length > page.limit) && last !== undefined;
  return { items: shown.map(toMessage), next_cursor: more ? messageCursor(last.position) : null };
}

export function history(
  connection: Connection,
  projectId: string,
  sessionId: string,
  before: number,
  limit: number,
): readonly Message[] {
  const bindings = { projectId, sessionId, before, limit };
  const room = new PageRoom(2);
  const rows = connection.allWhile<MessageRow>(listingStatements.history, bindings, ({ content }) =>
    room.take(content),
  );
  return rows.map(toMessage).reverse();
}

/** `rows` has one more than the page holds, where there is a next page. */
function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
  cursorAfter: (last: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { items: shown.map(toItem), next_cursor: more ? cursorAfter(last) : null };
}
