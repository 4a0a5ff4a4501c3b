// The usage of all projects' replies, hidden ones included, counted from two indexes without reading texts. The copies of a fork are
// counted in its parent.
import type { UsageQuery, UsageRecord } from '../../service/administration.ts';
import type { Ask } from './connection-pool.ts';
import { statement } from './statement.ts';

const repliesOf = (table: string) => `
      SELECT session, created_at, mode, finish_reason, input_tokens, output_tokens, first_token_ms FROM parley.${table}
      WHERE role = 'assistant' AND NOT copied AND created_at >= $1`;

/** `from` joins the tables that the group needs besides the replies. */
function selectUsage(group: string, from: string, order: string, by = group) {
  return statement(`
    SELECT ${group} AS "group", count(*) AS turns,
      count(*) FILTER (WHERE finish_reason = 'error') AS failed,
      coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
      count(*) FILTER (WHERE input_tokens IS NULL OR output_tokens IS NULL) AS uncounted,
      round(avg(first_token_ms)) AS first_token_ms
    FROM (${repliesOf('messages')} UNION ALL ${repliesOf('hidden_messages')}) AS reply ${from}
    GROUP BY ${by} ORDER BY ${order}`);
}

const largestFirst = 'sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) DESC, count(*) DESC';

const statements = {
  mode: selectUsage('reply.mode', '', `${largestFirst}, 1`),
  // Sessions of two projects may have the same id.
  session: selectUsage(
    'session.session_id',
    'JOIN parley.sessions AS session ON session.id = reply.session',
    `${largestFirst}, 1, reply.session`,
    'session.session_id, reply.session',
  ),
  day: selectUsage(
    `to_char(to_timestamp(reply.created_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
    '',
    '1',
    '1',
  ),
} as const;

export function usage(ask: Ask, since: number, by: UsageQuery['by']): Promise<readonly UsageRecord[]> {
  return ask<UsageRecord>(statements[by], [since]);
}
