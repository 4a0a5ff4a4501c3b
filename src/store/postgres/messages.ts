// Pages of messages, and the messages before a position. A page begins with an index search for the end of the last page.
import { pageBytes } from '../../service/limits.ts';
import type { Message } from '../../service/session.ts';
import { PageBudget, takeWhile } from '../page-budget.ts';
import type { MessageRow } from '../rows.ts';
import { messageColumns, toMessage } from '../rows.ts';
import type { MessagePlace, Rows } from '../session-filters.ts';
import { columnsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import { type AbandonedTurn, closeAbandoned, isAbandoned } from './reply-parts.ts';
import { statement } from './statement.ts';

// The database does not send texts that cannot fit on the page: a row is left out if the texts before it have more than `pageBytes` bytes.
// As JSON they take at least as many. {@link PageBudget} then finds the exact end of the page.
// $5: the owner that asks.
const page = statement(`
  SELECT page.*, session.message_count, session.turn_epoch, session.turn_position, ${isAbandoned('$5::text')} AS is_left
  FROM parley.projects
  JOIN parley.sessions AS session ON session.project = projects.id
  LEFT JOIN LATERAL (
    SELECT * FROM (
      SELECT ${messageColumns},
        sum(octet_length(message.content)) OVER (ORDER BY message.position) - octet_length(message.content) AS bytes
      FROM parley.messages AS message WHERE message.session = session.id AND message.position > $3
      ORDER BY message.position LIMIT $4
    ) AS next WHERE next.bytes <= ${pageBytes}
  ) AS page ON true
  WHERE projects.project_id = $1 AND session.session_id = $2 AND session.deleted_at IS NULL
  ORDER BY page.position`);

const histories = statement(`
  SELECT input.number, past.* FROM unnest($1::integer[], $2::text[], $3::text[], $4::integer[], $5::integer[])
    AS input (number, project_id, session_id, before, max_messages)
  JOIN parley.projects USING (project_id)
  JOIN parley.sessions AS session ON session.project = projects.id AND session.session_id = input.session_id
  CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT ${messageColumns}, row_number() OVER newest AS place,
        sum(octet_length(message.content)) OVER newest - octet_length(message.content) AS bytes
      FROM parley.messages AS message WHERE message.session = session.id AND message.position < input.before
      WINDOW newest AS (ORDER BY message.position DESC)
      ORDER BY message.position DESC LIMIT input.max_messages
    ) AS before WHERE before.bytes <= ${pageBytes} OR before.place <= 2
  ) AS past
  WHERE session.deleted_at IS NULL
  ORDER BY input.number, past.position DESC`);

export interface HistoryCall {
  readonly projectId: string;
  readonly sessionId: string;
  readonly before: number;
  readonly limit: number;
}

interface PageRow extends AbandonedTurn {
  readonly message_id: string | null;
  readonly message_count: number;
  readonly is_left: boolean;
}

type NumberedMessage = MessageRow & { readonly number: number };

/** Null for an unknown session. An abandoned turn is closed first, so that the page has the stored parts of its reply. `judge`: see {@link closeAbandoned}. */
export async function listMessages(
  ask: Ask,
  projectId: string,
  sessionId: string,
  place: MessagePlace,
  judge: string | null,
): Promise<Rows<Message> | null> {
  const { limit, after } = place;
  const rows = await ask<PageRow>(page, [projectId, sessionId, after ?? -1, limit, judge]);
  const [first] = rows;
  if (first?.is_left) {
    await closeAbandoned(ask, projectId, sessionId, first, judge);
    return listMessages(ask, projectId, sessionId, place, judge);
  }
  if (first === undefined) return null;
  // A session without messages after the place has one row, without a message.
  if (first.message_id === null) return { items: [], hasMore: false };
  const budget = new PageBudget(1);
  const items = takeWhile(rows as readonly (MessageRow & PageRow)[], ({ content }) => budget.take(content));
  const last = items.at(-1);
  return {
    items: items.map(toMessage),
    hasMore: last !== undefined && last.position + 1 < first.message_count,
  };
}

/** The histories of several turns (`SessionStore.history`), in the order of the calls. */
export async function readHistories(
  ask: Ask,
  calls: readonly HistoryCall[],
): Promise<readonly (readonly Message[])[]> {
  const values = columnsOf(
    calls,
    ({ projectId }) => projectId,
    ({ sessionId }) => sessionId,
    ({ before }) => before,
    ({ limit }) => limit,
  );
  const rows = await ask<NumberedMessage>(histories, values);
  const byCall = new Map<number, NumberedMessage[]>();
  for (const row of rows) {
    const ofCall = byCall.get(row.number);
    if (ofCall === undefined) byCall.set(row.number, [row]);
    else ofCall.push(row);
  }
  return calls.map((_, number) => {
    const budget = new PageBudget(2);
    const newest = takeWhile(byCall.get(number) ?? [], ({ content }) => budget.take(content));
    return newest.map(toMessage).reverse();
  });
}
