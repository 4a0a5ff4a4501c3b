// The messages that are in no index yet: each search of a served store looks through those of its project. So no search waits until what
// other projects have written is in the indexes.
import type { FoundMessage } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { inProject } from './sessions.ts';

/** Where more than this waits of one project, its search waits, too: to look through it each time would last. */
const mostMessages = 10_000;
const mostBytes = 16 * 1024 * 1024;

export const pendingStatements = {
  all: `
    SELECT message.id, session_id, message.position, message.created_at, octet_length(message.content) AS bytes
    FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
    WHERE message.id > (SELECT through FROM search_progress WHERE id = 1) AND ${inProject} AND deleted_at IS NULL
    ORDER BY message.id DESC LIMIT ${mostMessages + 1}`,
} as const;

/** The newest first; null where it is too much to look through. */
export function pendingOf(connection: Connection, projectId: string): readonly FoundMessage[] | null {
  const pending = connection.all<FoundMessage>(pendingStatements.all, { projectId });
  const bytes = pending.reduce((sum, message) => sum + message.bytes, 0);
  return pending.length > mostMessages || bytes > mostBytes ? null : pending;
}
