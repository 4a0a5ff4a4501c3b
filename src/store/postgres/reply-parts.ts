// The stored parts of running replies. When a server is killed, the call that takes its turn over, or lists the messages of the session,
// makes an interrupted reply of the parts.
import type { Ask } from './connection-pool.ts';
import { leaseUntil } from './servers.ts';
import { statement } from './statement.ts';

/** SQL: the stored text of the reply of a turn; null if nothing is stored. Both arguments are SQL. */
export const textSoFar = (session: string, epoch: string) => `(
  SELECT string_agg(part.content, '' ORDER BY part.at) FROM parley.reply_parts AS part
  WHERE part.session = ${session} AND part.epoch = ${epoch})`;

/** SQL for `parley.sessions AS session`: true if the lease of its turn is over, the turn has no reply, and parts of a reply are stored. */
export const isLeft = `
  session.turn_owner IS NOT NULL AND session.message_count = session.turn_position + 1
  AND ${leaseUntil()} <= clock_timestamp()
  AND EXISTS (
    SELECT 1 FROM parley.reply_parts AS part
    WHERE part.session = session.id AND part.epoch = session.turn_epoch AND part.content <> '')`;

const close = statement(`
  WITH closed AS (
    UPDATE parley.sessions AS session SET
      message_count = session.message_count + 1, turn_owner = NULL, turn_until = NULL, turn_position = NULL
    FROM parley.projects
    WHERE projects.project_id = $1 AND session.project = projects.id AND session.session_id = $2
      AND session.deleted_at IS NULL AND ${isLeft}
    RETURNING session.id, session.project, session.turn_epoch, session.message_count
  ), reply AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
    SELECT closed.id, closed.message_count - 1, last.message_id, 'assistant',
      ${textSoFar('closed.id', 'closed.turn_epoch')}, last.mode, 'interrupted', last.created_at
    FROM closed CROSS JOIN LATERAL (
      SELECT part.message_id, part.mode, part.created_at FROM parley.reply_parts AS part
      WHERE part.session = closed.id AND part.epoch = closed.turn_epoch ORDER BY part.at DESC LIMIT 1
    ) AS last
    RETURNING session, position, octet_length(content) AS bytes
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT closed.project, reply.session, reply.position, reply.bytes FROM reply JOIN closed ON closed.id = reply.session
  )
  SELECT 1 FROM closed`);
// Deletes the parts of ended turns. A running or abandoned turn keeps its parts.
const sweep = statement(`
  DELETE FROM parley.reply_parts AS part WHERE NOT EXISTS (
    SELECT 1 FROM parley.sessions AS session
    WHERE session.id = part.session AND session.turn_epoch = part.epoch AND session.turn_owner IS NOT NULL)`);

/** Ends an abandoned turn with the stored parts of its reply. Does nothing if the turn is no longer abandoned. */
export async function closeLeft(ask: Ask, projectId: string, sessionId: string): Promise<void> {
  await ask(close, [projectId, sessionId]);
}

export async function sweepParts(ask: Ask): Promise<void> {
  await ask(sweep);
}
