// What the store holds of one person. The index of the users gives the sessions at once.
import {
  type SessionsOf,
  shortestPart,
  type UserSession,
  type UserSessions,
  type UserTexts,
} from '../user-sessions.ts';
import { noTurnRuns, turnRuns } from './lease-clock.ts';
import { inProject } from './sessions.ts';
import type { StoreAccess } from './store-access.ts';

// Project 0 holds the sessions that staged-session.ts hides.
const ofUser = `sessions.user_id = @user AND sessions.project <> 0
  AND (@projectId IS NULL OR sessions.${inProject})`;
const messagesIn = (table: string) => `
  SELECT count(*) AS messages, coalesce(sum(octet_length(content)), 0) AS bytes
  FROM sessions CROSS JOIN ${table} AS message ON message.session = sessions.id
  WHERE ${ofUser} AND ${noTurnRuns}`;
const isLineIn = (table: string) => `EXISTS (
    SELECT 1 FROM sessions CROSS JOIN ${table} AS message ON message.session = sessions.id
    WHERE ${ofUser} AND message.role = 'user'
      AND (message.content = line OR (length(line) >= ${shortestPart} AND instr(message.content, line))))`;

const userStatements = {
  sessions: `
    SELECT projects.project_id, session_id, deleted_at IS NOT NULL AS is_deleted,
      ${turnRuns} AS is_busy
    FROM sessions CROSS JOIN projects ON projects.id = sessions.project WHERE ${ofUser} ORDER BY session_id`,
  texts: `
    SELECT sum(messages) AS messages, sum(bytes) AS text_bytes
    FROM (${messagesIn('messages')} UNION ALL ${messagesIn('hidden_messages')})`,
  linesInTexts: `
    SELECT line FROM (SELECT value AS line FROM json_each(@lines))
    WHERE ${isLineIn('messages')} OR ${isLineIn('hidden_messages')}`,
} as const;

type UserSessionRow = Omit<UserSession, 'is_deleted' | 'is_busy'> & {
  readonly is_deleted: number;
  readonly is_busy: number;
};

/** `clock`: the clock of leases. */
export function userSessions(access: StoreAccess, clock: () => number): UserSessions {
  const bindings = ({ projectId, user }: SessionsOf) => ({ projectId, user });
  return {
    sessions: (of) =>
      access.read((connection) =>
        connection
          .all<UserSessionRow>(userStatements.sessions, { ...bindings(of), clock: clock() })
          .map((row) => ({ ...row, is_deleted: row.is_deleted === 1, is_busy: row.is_busy === 1 })),
      ),
    texts: (of) =>
      access.read(
        (connection) =>
          connection.get<UserTexts>(userStatements.texts, { ...bindings(of), clock: clock() }) as UserTexts,
      ),
    linesInTexts: (of, lines) =>
      access.read((connection) =>
        connection
          .all<{ line: string }>(userStatements.linesInTexts, {
            ...bindings(of),
            lines: JSON.stringify(lines),
          })
          .map(({ line }) => line),
      ),
  };
}
