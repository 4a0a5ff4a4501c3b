// Pages of messages, and the messages before a position. A page begins with an index search for the end of the last page, so the thousandth
// page costs as much as the first.
import type { Message } from '../../service/session.ts';
import { PageBudget } from '../page-budget.ts';
import type { MessageRow } from '../rows.ts';
import { hiddenColumns, messageColumns, toMessage } from '../rows.ts';
import type { AnyMessagePlace, MessagePlace, Rows } from '../session-filters.ts';
import type { Connection } from './connection.ts';
import { visibleColumns } from './hidden-messages.ts';
import { thisSession } from './sessions.ts';

// CROSS JOIN makes SQLite read the session first.
const messagesOfSession = `
  SELECT ${messageColumns} FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
  WHERE ${thisSession} AND deleted_at IS NULL`;

export const pageStatements = {
  activeRow: `SELECT id FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  messages: `${messagesOfSession} AND message.position > @after ORDER BY message.position LIMIT @limit`,
  // A message has one position and one id, visible or hidden, so a page continues where the last one ended, whatever moves meanwhile.
  allMessages: `
    SELECT ${visibleColumns}
    FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
    WHERE ${thisSession} AND deleted_at IS NULL AND message.position >= @position
      AND (message.position > @position OR message.message_id > @messageId)
    UNION ALL
    SELECT ${hiddenColumns} FROM sessions CROSS JOIN hidden_messages AS message ON message.session = sessions.id
    WHERE ${thisSession} AND deleted_at IS NULL AND (message.position, message.message_id) > (@position, @messageId)
    ORDER BY position, message_id LIMIT @limit`,
  history: `${messagesOfSession} AND message.position < @before ORDER BY message.position DESC LIMIT @limit`,
} as const;

export function listMessages(
  connection: Connection,
  projectId: string,
  sessionId: string,
  { limit, after }: MessagePlace,
): Rows<Message> | null {
  return pageOf(connection, pageStatements.messages, {
    ...{ projectId, sessionId, after: after ?? -1, limit: limit + 1 },
  });
}

/** The messages of both tables, by position and id. */
export function listAllMessages(
  connection: Connection,
  projectId: string,
  sessionId: string,
  { limit, after }: AnyMessagePlace,
): Rows<Message> | null {
  const { position = 0, messageId = '' } = after ?? {};
  return pageOf(connection, pageStatements.allMessages, {
    ...{ projectId, sessionId, position, messageId, limit: limit + 1 },
  });
}

/** `bindings.limit` is one more than the page may hold. */
function pageOf(
  connection: Connection,
  statement: string,
  bindings: { readonly projectId: string; readonly sessionId: string; readonly limit: number },
): Rows<Message> | null {
  const budget = new PageBudget(1);
  const { projectId, sessionId, limit } = bindings;
  let isCut = false;
  const rows = connection.allWhile<MessageRow>(statement, bindings, ({ content }) => {
    const fits = budget.take(content);
    isCut = !fits;
    return fits;
  });
  if (rows.length === 0 && connection.get(pageStatements.activeRow, { projectId, sessionId }) === undefined)
    return null;
  return { items: rows.slice(0, limit - 1).map(toMessage), hasMore: isCut || rows.length === limit };
}

export function history(
  connection: Connection,
  projectId: string,
  sessionId: string,
  before: number,
  limit: number,
): readonly Message[] {
  const bindings = { projectId, sessionId, before, limit };
  const budget = new PageBudget(2);
  const rows = connection.allWhile<MessageRow>(pageStatements.history, bindings, ({ content }) =>
    budget.take(content),
  );
  return rows.map(toMessage).reverse();
}
