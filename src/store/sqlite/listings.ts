// Pages of sessions and of messages. A page begins by searching an index for where the last one ended: the thousandth costs
// what the first does.
import type { Message, Page, Session } from '../../service/session.ts';
import type { SessionFilter } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { messageCursor, readMessageCursor, readSessionCursor, sessionCursor } from './cursors.ts';
import type { MessageRow, SessionRow } from './rows.ts';
import { messageColumns, sessionColumns, toMessage, toSession } from './rows.ts';
import { inProject, thisSession } from './sessions.ts';

// One upper bound, of two columns: given two bounds SQLite would use one for its search and test the other row by row. Sessions of
// one time go by their ids, not by their row numbers: the order is then the same wherever they were imported.
function selectSessions(deleted: boolean, titled: boolean): string {
  return `
    SELECT ${sessionColumns} FROM sessions
    WHERE ${inProject} AND deleted_at IS ${deleted ? 'NOT NULL' : 'NULL'}
      AND (updated_at, session_id) < (@updatedBefore, @idBefore) AND updated_at >= @updatedAfter
      ${titled ? 'AND title GLOB @titleMatch' : ''}
    ORDER BY updated_at DESC, session_id DESC LIMIT @limit`;
}

// CROSS JOIN: the session first, always.
const messagesOfSession = `
  SELECT ${messageColumns} FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
  WHERE ${thisSession} AND deleted_at IS NULL`;

export const listingStatements = {
  active: selectSessions(false, false),
  activeTitled: selectSessions(false, true),
  deleted: selectSessions(true, false),
  deletedTitled: selectSessions(true, true),
  activeRow: `SELECT id FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  messages: `${messagesOfSession} AND message.position > @after ORDER BY message.position LIMIT @limit`,
  history: `${messagesOfSession} AND message.position < @before ORDER BY message.position DESC LIMIT @limit`,
} as const;

export function listSessions(
  connection: Connection,
  projectId: string,
  filter: SessionFilter,
): Page<Session> {
  const { deleted, titleMatch, limit } = filter;
  const plain = deleted ? listingStatements.deleted : listingStatements.active;
  const titled = deleted ? listingStatements.deletedTitled : listingStatements.activeTitled;
  const rows = connection.all<SessionRow>(titleMatch === null ? plain : titled, {
    projectId,
    ...upperBound(filter),
    updatedAfter: filter.updatedAfter ?? 0,
    ...(titleMatch !== null && { titleMatch }),
    limit: limit + 1,
  });
  return toPage(rows, limit, toSession, (last) =>
    sessionCursor({ updatedAt: last.updated_at, sessionId: last.session_id }),
  );
}

/** An empty id comes before all those of its time. */
function upperBound(filter: SessionFilter): { readonly updatedBefore: number; readonly idBefore: string } {
  const before = filter.updatedBefore ?? Number.MAX_SAFE_INTEGER;
  if (filter.cursor === null) return { updatedBefore: before, idBefore: '' };
  const { updatedAt, sessionId } = readSessionCursor(filter.cursor);
  if (before <= updatedAt) return { updatedBefore: before, idBefore: '' };
  return { updatedBefore: updatedAt, idBefore: sessionId };
}

export function listMessages(
  connection: Connection,
  projectId: string,
  sessionId: string,
  page: { readonly limit: number; readonly cursor: string | null },
): Page<Message> | null {
  const after = page.cursor === null ? -1 : readMessageCursor(page.cursor);
  const rows = connection.all<MessageRow>(listingStatements.messages, {
    projectId,
    sessionId,
    after,
    limit: page.limit + 1,
  });
  if (
    rows.length === 0 &&
    connection.get(listingStatements.activeRow, { projectId, sessionId }) === undefined
  )
    return null;
  return toPage(rows, page.limit, toMessage, (last) => messageCursor(last.position));
}

export function history(
  connection: Connection,
  projectId: string,
  sessionId: string,
  before: number,
  limit: number,
): readonly Message[] {
  const bindings = { projectId, sessionId, before, limit };
  return connection.all<MessageRow>(listingStatements.history, bindings).map(toMessage).reverse();
}

/** Made of one row more than the page holds: whether there is a next one. */
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
