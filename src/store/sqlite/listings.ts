// Pages of messages. A page begins with an index search for the end of the last page, so the thousandth page costs as much as the first.
import type { Message } from '../../service/session.ts';
import { PageRoom } from '../page-room.ts';
import type { MessageRow } from '../rows.ts';
import { messageColumns, toMessage } from '../rows.ts';
import type { MessagePlace, Rows } from '../session-filters.ts';
import type { Connection } from './connection.ts';
import { thisSession } from './sessions.ts';

// CROSS JOIN makes SQLite read the session first.
const messagesOfSession = `
  SELECT ${messageColumns} FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
  WHERE ${thisSession} AND deleted_at IS NULL`;

export const listingStatements = {
  activeRow: `SELECT id FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  messages: `${messagesOfSession} AND message.position > @after ORDER BY message.position LIMIT @limit`,
  history: `${messagesOfSession} AND message.position < @before ORDER BY message.position DESC LIMIT @limit`,
} as const;

export function listMessages(
  connection: Connection,
  projectId: string,
  sessionId: string,
  { limit, after }: MessagePlace,
): Rows<Message> | null {
  const room = new PageRoom(1);
  let isCut = false;
  const bindings = { projectId, sessionId, after: after ?? -1, limit: limit + 1 };
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
  return { items: rows.slice(0, limit).map(toMessage), hasMore: isCut || rows.length > limit };
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
