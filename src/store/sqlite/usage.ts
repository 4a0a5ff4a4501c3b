// The usage of all projects' replies, visible and hidden, counted from two indexes without reading texts. The indexes hold no copies.
import type { UsageQuery, UsageRecord } from '../../service/administration.ts';
import type { Connection } from './connection.ts';

const repliesOf = (table: string, index: string) => `
  SELECT created_at, session, mode, finish_reason, input_tokens, output_tokens, first_token_ms
  FROM ${table} AS reply INDEXED BY ${index}
  WHERE role = 'assistant' AND copied IS NULL AND created_at >= @since`;

/** `from` joins the tables that the group needs besides the replies. */
function selectUsage(group: string, from: string, order: string, by = group): string {
  return `
    SELECT ${group} AS "group", count(*) AS turns, coalesce(sum(finish_reason = 'error'), 0) AS failed,
      coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
      sum(input_tokens IS NULL OR output_tokens IS NULL) AS uncounted,
      CAST(round(avg(first_token_ms)) AS INTEGER) AS first_token_ms
    FROM (${repliesOf('messages', 'replies_by_time')}
      UNION ALL ${repliesOf('hidden_messages', 'hidden_replies_by_time')}) AS reply ${from}
    WHERE reply.session NOT IN (SELECT session FROM imports)
    GROUP BY ${by} ORDER BY ${order}`;
}

const largestFirst = 'sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) DESC, turns DESC, "group"';

export const usageStatements = {
  mode: selectUsage('reply.mode', '', largestFirst),
  // Sessions of two projects may have the same id.
  session: selectUsage(
    'sessions.session_id',
    'JOIN sessions ON sessions.id = reply.session',
    `${largestFirst}, reply.session`,
    'reply.session',
  ),
  day: selectUsage("date(reply.created_at / 1000, 'unixepoch')", '', '"group"'),
} as const;

export function usage(connection: Connection, since: number, by: UsageQuery['by']): readonly UsageRecord[] {
  return connection.all<UsageRecord>(usageStatements[by], { since });
}
