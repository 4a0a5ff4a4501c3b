// What the store holds of one person. The index of the users gives the sessions at once.
import {
  type SessionsOf,
  shortestPart,
  type UserSession,
  type UserSessions,
  type UserTexts,
} from '../user-sessions.ts';
import type { RunCall } from './run-call.ts';
import { noTurnRuns, turnRuns } from './servers.ts';
import { projectNumber } from './sessions.ts';
import { statement } from './statement.ts';

// $1: the project, or null for all. $2: the user.
const ofUser = `session.user_id = $2::text
  AND ($1::text IS NULL OR session.project = ${projectNumber})`;
const sessions = statement(`
  SELECT projects.project_id, session.session_id, session.deleted_at IS NOT NULL AS is_deleted,
    ${turnRuns} AS is_busy
  FROM parley.sessions AS session JOIN parley.projects ON projects.id = session.project
  WHERE ${ofUser} ORDER BY session.session_id`);
const messagesIn = (table: string) => `
  SELECT message.content FROM parley.sessions AS session
  JOIN parley.${table} AS message ON message.session = session.id WHERE ${ofUser}`;
const texts = statement(`
  SELECT count(*) AS messages, coalesce(sum(octet_length(content)), 0)::bigint AS text_bytes
  FROM (${messagesIn('messages')} AND ${noTurnRuns}
    UNION ALL ${messagesIn('hidden_messages')} AND ${noTurnRuns}) AS message`);
const isLineIn = (table: string) => `EXISTS (${messagesIn(table)} AND message.role = 'user'
    AND (message.content = line OR (length(line) >= ${shortestPart} AND strpos(message.content, line) > 0)))`;
const linesInTexts = statement(`
  SELECT line FROM unnest($3::text[]) AS lines (line)
  WHERE ${isLineIn('messages')} OR ${isLineIn('hidden_messages')}`);

export function userSessions(run: RunCall): UserSessions {
  const values = ({ projectId, user }: SessionsOf) => [projectId, user];
  return {
    sessions: (of) => run((ask) => ask<UserSession>(sessions, values(of))),
    texts: (of) => run(async (ask) => (await ask<UserTexts>(texts, values(of)))[0] as UserTexts),
    linesInTexts: (of, lines) =>
      run(async (ask) =>
        (await ask<{ line: string }>(linesInTexts, [...values(of), lines])).map(({ line }) => line),
      ),
  };
}
