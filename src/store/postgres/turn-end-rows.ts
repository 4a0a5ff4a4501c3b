// The statements that end and renew turns, and find out whether they run. As in turn-rows.ts, the statement for groups writes the usual
// case only: there is no reply in the place of the new one.
import { movedColumns } from './message-columns.ts';
import { leaseEnd, leaseUntil } from './servers.ts';
import { ofProject } from './sessions.ts';
import { statement } from './statement.ts';
import type { StandingRow } from './turn-rows.ts';

export const endTurns = statement(`
  WITH input AS MATERIALIZED (
    SELECT input.*, projects.id AS project
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::text[], $8::text[],
      $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[])
      AS input (number, project_id, session_id, owner, epoch, position, message_id, content, mode, finish_reason,
        input_tokens, output_tokens, first_token_ms, error_code, now)
    JOIN parley.projects USING (project_id)
  ), ended AS (
    UPDATE parley.sessions AS session SET
      message_count = session.message_count + 1, updated_at = greatest(session.updated_at, input.now),
      turn_owner = NULL, turn_until = NULL, turn_position = NULL
    FROM input
    WHERE session.project = input.project AND session.session_id = input.session_id
      AND session.turn_owner = input.owner AND session.turn_epoch = input.epoch
      AND session.turn_position = input.position AND session.message_count = input.position + 1
    RETURNING session.id, session.project, session.session_id, session.message_count
  ), ended_input AS (
    SELECT input.*, ended.id, ended.message_count FROM ended JOIN input USING (project, session_id)
  ), reply AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, finish_reason, input_tokens,
      output_tokens, first_token_ms, error_code, created_at)
    SELECT id, position + 1, message_id, 'assistant', content, mode, finish_reason, input_tokens, output_tokens,
      first_token_ms, error_code, now
    FROM ended_input
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT project, id, position + 1, octet_length(content) FROM ended_input WHERE content <> ''
  )
  SELECT number, message_count FROM ended_input`);

/**
 * The turn of a session, deleted or not. $3: the position of the message whose reply ends. $4: its id. $5: the id of the reply. A message
 * that was undone meanwhile is not asked any more.
 */
export const anyTurn = statement(`
  SELECT session.id, session.message_count, session.turn_owner, session.turn_position, session.turn_epoch,
    EXISTS (
      SELECT 1 FROM parley.messages AS asked
      WHERE asked.session = session.id AND asked.position = $3 AND asked.message_id = $4
    ) AS is_asked,
    EXISTS (
      SELECT 1 FROM parley.hidden_messages AS kept
      WHERE kept.session = session.id AND kept.position = $3 + 1 AND kept.message_id = $5
    ) AS is_hidden
  FROM parley.sessions AS session WHERE ${ofProject} AND session.session_id = $2`);

export interface AnyTurnRow
  extends Pick<StandingRow, 'id' | 'message_count' | 'turn_owner' | 'turn_position' | 'turn_epoch'> {
  readonly is_asked: boolean;
  /** True for a reply that is stored as a hidden message. */
  readonly is_hidden: boolean;
}

// The time of the last activity changes, so that a listing shows it. $7: now. $8: true if the turn is released. $9: the id of the reply
// that is replaced and becomes an alternative, or null. $10: its position. $11 to $18: the reply. $19: the id of the message that is
// answered. $20: true if the reply becomes an alternative itself. `standing` is locked, so that it is read with the text that a redaction has
// just given it.
export const replaceReply = statement(`
  WITH held AS (
    UPDATE parley.sessions AS session SET
      updated_at = CASE WHEN $9::text IS NOT NULL OR $20 THEN greatest(session.updated_at + 1, $7::bigint)
        ELSE session.updated_at END,
      turn_owner = CASE WHEN $8 THEN NULL ELSE session.turn_owner END,
      turn_until = CASE WHEN $8 THEN NULL ELSE session.turn_until END,
      turn_position = CASE WHEN $8 THEN NULL ELSE session.turn_position END
    WHERE ${ofProject} AND session.id = $2 AND session.turn_epoch = $3
      AND session.turn_owner IS NOT DISTINCT FROM $4 AND session.turn_position IS NOT DISTINCT FROM $5::integer
      AND session.message_count = $6
      AND ($9::text IS NULL OR EXISTS (
        SELECT 1 FROM parley.messages AS message
        WHERE message.session = session.id AND message.position = $10 AND message.message_id = $9))
    RETURNING session.id, session.project
  ), standing AS MATERIALIZED (
    SELECT message.* FROM held JOIN parley.messages AS message ON message.session = held.id
    WHERE $9::text IS NOT NULL AND message.position = $10 FOR UPDATE OF message
  ), alternative AS (
    INSERT INTO parley.hidden_messages (session, ${movedColumns}, alternative_of)
    SELECT session, ${movedColumns}, $19 FROM standing
    UNION ALL
    SELECT id, $10::integer, $11, 'assistant', $13, $14, $15::bigint, $16::bigint, $17::bigint, $18, $7::bigint, $12, false, $19
    FROM held WHERE $20
    ON CONFLICT DO NOTHING
  ), replaced AS (
    UPDATE parley.messages AS message SET message_id = $11, content = $12, mode = $13, finish_reason = $14,
      input_tokens = $15::bigint, output_tokens = $16::bigint, first_token_ms = $17::bigint, error_code = $18,
      created_at = $7::bigint, copied = false
    FROM standing WHERE message.session = standing.session AND message.position = standing.position
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT project, id, $10::integer, octet_length($12::text) FROM held WHERE $9::text IS NOT NULL
    ON CONFLICT (project, session, position) DO UPDATE SET bytes = excluded.bytes
  )
  SELECT id FROM held`);

// A lease is not written while more than two thirds of it are left. The turn of a server is not written, because its heartbeat renews it.
export const renewTurns = statement(`
  WITH input AS MATERIALIZED (
    SELECT input.*, session.id,
      session.turn_until < clock_timestamp() + input.lease_ms * interval '1 millisecond' * 2 / 3
        AND NOT EXISTS (SELECT 1 FROM parley.servers AS server WHERE server.owner = input.owner) AS is_due
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::integer[], $7::integer[],
      $8::integer[], $9::text[], $10::text[], $11::bigint[], $12::text[])
      AS input (number, project_id, session_id, owner, epoch, position, lease_ms, at, message_id, mode, now, content)
    JOIN parley.projects USING (project_id)
    JOIN parley.sessions AS session ON session.project = projects.id AND session.session_id = input.session_id
      AND session.turn_owner = input.owner AND session.turn_epoch = input.epoch
      AND session.turn_position = input.position
  ), renewed AS (
    UPDATE parley.sessions AS session SET turn_until = ${leaseEnd('input.lease_ms')}
    FROM input
    WHERE input.is_due AND session.id = input.id AND session.turn_owner = input.owner
      AND session.turn_epoch = input.epoch
    RETURNING input.number
  ), kept AS (
    INSERT INTO parley.reply_parts (session, epoch, at, message_id, mode, created_at, content)
    SELECT id, epoch, at, message_id, mode, now, content FROM input WHERE content IS NOT NULL
    ON CONFLICT (session, epoch, at) DO UPDATE SET content = excluded.content
  )
  SELECT number FROM renewed UNION ALL SELECT number FROM input WHERE NOT is_due`);

/** $5: the owner that asks. */
export const runningTurns = statement(`
  SELECT input.number
  FROM unnest($1::integer[], $2::text[], $3::text[], $4::integer[]) AS input (number, project_id, session_id, epoch)
  JOIN parley.projects USING (project_id)
  JOIN parley.sessions AS session ON session.project = projects.id AND session.session_id = input.session_id
  WHERE session.deleted_at IS NULL AND session.turn_owner IS NOT NULL AND session.turn_epoch = input.epoch
    AND ${leaseUntil('$5::text')} > clock_timestamp()`);
