// The stored parts of running replies. When a server is killed, the call that takes its turn over, or lists the messages of the session,
// makes an interrupted reply of the parts. If there is a reply already, the parts become an alternative to it.
import type { Ask } from './connection-pool.ts';
import { leaseUntil } from './servers.ts';
import { statement } from './statement.ts';

/** SQL: the stored text of the reply of a turn; null if nothing is stored. Both arguments are SQL. */
export const textSoFar = (session: string, epoch: string) => `(
  SELECT string_agg(part.content, '' ORDER BY part.at) FROM parley.reply_parts AS part
  WHERE part.session = ${session} AND part.epoch = ${epoch})`;

/** SQL: the stored reply of a turn as a row; no row if nothing is stored. Both arguments are SQL. */
export const replySoFar = (session: string, epoch: string) => `
  SELECT part.message_id, part.mode, part.created_at, ${textSoFar(session, epoch)} AS content
  FROM parley.reply_parts AS part WHERE part.session = ${session} AND part.epoch = ${epoch}
  ORDER BY part.at DESC LIMIT 1`;

/**
 * SQL that makes an alternative of the stored parts of a turn, whose epoch is $3. `held`: a row with the `id` of the session. The turn is
 * that of the message at the position. Nothing happens unless the condition holds. All arguments are SQL.
 */
export const partsAsAlternative = (held: string, position: string, condition: string) => `
  INSERT INTO parley.hidden_messages (session, position, message_id, role, content, mode, finish_reason, created_at,
    alternative_of)
  SELECT ${held}.id, asked.position + 1, stored.message_id, 'assistant', stored.content, stored.mode, 'interrupted',
    stored.created_at, asked.message_id
  FROM ${held}
  JOIN parley.messages AS asked ON asked.session = ${held}.id AND asked.position = ${position}
  CROSS JOIN LATERAL (${replySoFar(`${held}.id`, '$3')}) AS stored
  WHERE stored.content <> '' AND ${condition}
  ON CONFLICT DO NOTHING`;

/** SQL for `parley.sessions AS session`: true if the lease of its turn is over, as `judge` sees it, and parts of a reply are stored. */
export const isAbandoned = (judge?: string) => `
  session.turn_owner IS NOT NULL AND ${leaseUntil(judge)} <= clock_timestamp()
  AND EXISTS (
    SELECT 1 FROM parley.reply_parts AS part
    WHERE part.session = session.id AND part.epoch = session.turn_epoch AND part.content <> '')`;

const hasReply = `EXISTS (
      SELECT 1 FROM parley.messages AS reply WHERE reply.session = closed.id AND reply.position = $4::integer + 1)`;

// $3: the epoch of the turn. $4: the position of its message. $5: the owner that asks.
const close = statement(`
  WITH closed AS (
    UPDATE parley.sessions AS session SET
      message_count = greatest(session.message_count, $4::integer + 2), turn_owner = NULL, turn_until = NULL,
      turn_position = NULL, updated_at = greatest(session.updated_at + 1, (
        SELECT max(part.created_at) FROM parley.reply_parts AS part
        WHERE part.session = session.id AND part.epoch = session.turn_epoch))
    FROM parley.projects
    WHERE projects.project_id = $1 AND session.project = projects.id AND session.session_id = $2
      AND session.deleted_at IS NULL AND session.turn_epoch = $3 AND session.turn_position = $4 AND ${isAbandoned('$5::text')}
    RETURNING session.id, session.project, session.turn_epoch
  ), reply AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
    SELECT closed.id, $4::integer + 1, stored.message_id, 'assistant', stored.content, stored.mode, 'interrupted',
      stored.created_at
    FROM closed CROSS JOIN LATERAL (${replySoFar('closed.id', 'closed.turn_epoch')}) AS stored
    WHERE NOT ${hasReply}
    RETURNING session, position, octet_length(content) AS bytes
  ), alternative AS (${partsAsAlternative('closed', '$4', hasReply)}
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT closed.project, reply.session, reply.position, reply.bytes FROM reply JOIN closed ON closed.id = reply.session
  )
  SELECT 1 FROM closed`);
const abandoned = statement(`
  SELECT projects.project_id, session.session_id, session.turn_epoch, session.turn_position
  FROM parley.sessions AS session JOIN parley.projects ON projects.id = session.project
  WHERE session.id IN (SELECT part.session FROM parley.reply_parts AS part) AND session.deleted_at IS NULL
    AND ${isAbandoned()}`);
// A running or abandoned turn keeps its parts.
const isOfEnded = `
  NOT EXISTS (
    SELECT 1 FROM parley.sessions AS session
    WHERE session.id = part.session AND session.turn_epoch = part.epoch AND session.turn_owner IS NOT NULL)`;
const sweep = statement(`DELETE FROM parley.reply_parts AS part WHERE ${isOfEnded}`);
/** Deletes the parts of the ended turns of a session. $1: its row number. */
export const sweepSession = statement(`
  DELETE FROM parley.reply_parts AS part WHERE part.session = $1 AND ${isOfEnded}`);

/** A turn that was abandoned, as a statement has just read it. */
export interface AbandonedTurn {
  readonly turn_epoch: number;
  readonly turn_position: number | null;
}

/**
 * Ends an abandoned turn with the stored parts of its reply. Does nothing if the turn is no longer abandoned. `judge`: the owner of the
 * server that asks; null for a process that does not serve.
 */
export async function closeAbandoned(
  ask: Ask,
  projectId: string,
  sessionId: string,
  turn: AbandonedTurn,
  judge: string | null,
): Promise<void> {
  await ask(close, [projectId, sessionId, turn.turn_epoch, turn.turn_position, judge]);
}

/** Ends all abandoned turns of which parts are stored. */
export async function closeAllAbandoned(ask: Ask): Promise<void> {
  type Row = AbandonedTurn & { readonly project_id: string; readonly session_id: string };
  for (const row of await ask<Row>(abandoned))
    await closeAbandoned(ask, row.project_id, row.session_id, row, null);
}

export async function sweepParts(ask: Ask): Promise<void> {
  await ask(sweep);
}
