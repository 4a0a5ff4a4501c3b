// Pages of all messages of a session, visible and hidden.
import { pageBytes } from '../../service/limits.ts';
import type { Message } from '../../service/session.ts';
import { PageBudget, takeWhile } from '../page-budget.ts';
import { hiddenColumns, type MessageRow, toMessage } from '../rows.ts';
import type { AnyMessagePlace, Rows } from '../session-filters.ts';
import type { Ask } from './connection-pool.ts';
import { visibleColumns } from './message-columns.ts';
import { type AbandonedTurn, closeAbandoned, isAbandoned } from './reply-parts.ts';
import { statement } from './statement.ts';

const ofTable = (table: string, columns: string) => `
  (SELECT ${columns} FROM parley.${table} AS message
  WHERE message.session = session.id AND (message.position, message.message_id) > ($3::integer, $4::text)
  ORDER BY message.position, message.message_id LIMIT $5)`;
// As for a page of the visible line (messages.ts), texts that cannot fit are not sent.
// $6: the owner that asks.
const page = statement(`
  SELECT page.*, session.turn_epoch, session.turn_position, ${isAbandoned('$6::text')} AS is_left FROM parley.projects
  JOIN parley.sessions AS session ON session.project = projects.id
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT message.*, count(*) OVER () AS found,
        sum(octet_length(message.content)) OVER (ORDER BY message.position, message.message_id)
          - octet_length(message.content) AS bytes
      FROM (
        SELECT * FROM (
          ${ofTable('messages', visibleColumns)}
          UNION ALL
          ${ofTable('hidden_messages', hiddenColumns)}
        ) AS either ORDER BY position, message_id LIMIT $5
      ) AS message
    ) AS next WHERE next.bytes <= ${pageBytes}
  ) AS page ON true
  WHERE projects.project_id = $1 AND session.session_id = $2 AND session.deleted_at IS NULL
  ORDER BY page.position, page.message_id`);

interface PageRow extends AbandonedTurn {
  readonly message_id: string | null;
  readonly is_left: boolean;
  /** How many messages there are, up to one more than the limit. */
  readonly found: number;
}

/** Null for an unknown session. An abandoned turn is closed first, so that the page has the stored parts of its reply. `judge`: see {@link closeAbandoned}. */
export async function listAllMessages(
  ask: Ask,
  projectId: string,
  sessionId: string,
  { limit, after }: AnyMessagePlace,
  judge: string | null,
): Promise<Rows<Message> | null> {
  const values = [projectId, sessionId, after?.position ?? -1, after?.messageId ?? '', limit + 1, judge];
  for (;;) {
    const rows = await ask<PageRow>(page, values);
    const [first] = rows;
    if (first === undefined) return null;
    if (first.is_left) {
      await closeAbandoned(ask, projectId, sessionId, first, judge);
      continue;
    }
    if (first.message_id === null) return { items: [], hasMore: false };
    const budget = new PageBudget(1);
    const messages = (rows as readonly (MessageRow & PageRow)[]).slice(0, limit);
    const items = takeWhile(messages, ({ content }) => budget.take(content)).map(toMessage);
    return { items, hasMore: first.found > items.length };
  }
}
