// The statements of turns. The turn_ columns of a session hold its turn. If the owner is empty, the last message of the session, if any, is
// a reply. The statements for groups (begin, end) write only the usual case: no turn is open in the session, and there is no reply in the
// place of the new one. In any other case they change nothing. The rules of a turn then decide, and other statements write the decision,
// but only if the state that the rules read is unchanged.
import { hiddenColumns, type MessageRow, messageColumns, type SessionRow } from '../rows.ts';
import { knownColumns, knownFields } from './idempotency.ts';
import { isRefused } from './keys.ts';
import { visibleColumns } from './message-columns.ts';
import { partsAsAlternative, replySoFar } from './reply-parts.ts';
import { leaseEnd, leaseUntil } from './servers.ts';
import { ofProject } from './sessions.ts';
import { statement } from './statement.ts';

/** SQL: the position of a message of `parley.sessions AS session`, visible or undone; null if the session has no message with this id. */
const positionOfMessage = (messageId: string) => `(
  SELECT asked.position FROM parley.messages AS asked WHERE asked.session = session.id AND asked.message_id = ${messageId}
  UNION ALL
  SELECT asked.position FROM parley.hidden_messages AS asked
  WHERE asked.session = session.id AND asked.message_id = ${messageId} LIMIT 1)`;

// The message may be stored already, if an earlier sending of the same call began its turn and that turn is over. Then the time of the
// message is not after the last activity, so most messages are not looked for.
export const beginTurns = statement(`
  WITH input AS MATERIALIZED (
    SELECT input.*, projects.id AS project, ${isRefused('input.key_hash', 'projects.id')} AS is_refused
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::bigint[], $10::text[], $11::integer[], $12::text[], $13::bytea[], $14::bigint[], $15::bytea[], $16::text[],
      $17::text[], $18::text[])
      AS input (number, project_id, session_id, is_new, title, message_id, content, mode, now, owner, lease_ms, key,
        request_hash, kept_ms, key_hash, new_parameters, new_system, new_user)
    JOIN parley.projects USING (project_id)
  ), known AS MATERIALIZED (
    SELECT input.number, ${knownColumns('input.kept_ms')}
    FROM input JOIN parley.idempotency AS known ON known.project = input.project AND known.key = input.key
  ), fresh AS MATERIALIZED (
    SELECT * FROM input WHERE NOT is_refused AND number NOT IN (SELECT number FROM known)
  ), made AS (
    INSERT INTO parley.sessions (project, session_id, title, created_at, updated_at, message_count, turn_owner,
      turn_until, turn_position, turn_epoch, mode, parameters, system, user_id)
    SELECT project, session_id, title, now, now, 1, owner, ${leaseEnd('lease_ms')}, 0, 1, mode, new_parameters, new_system,
      new_user
    FROM fresh WHERE is_new
    ON CONFLICT (project, session_id) DO NOTHING
    RETURNING id, project, session_id, turn_position, turn_epoch, NULL::text AS parameters, NULL::text AS system
  ), taken AS (
    UPDATE parley.sessions AS session SET
      message_count = session.message_count + 1, updated_at = greatest(session.updated_at, fresh.now),
      turn_owner = fresh.owner, turn_until = ${leaseEnd('fresh.lease_ms')}, turn_position = session.message_count,
      turn_epoch = session.turn_epoch + 1, mode = fresh.mode, undone_turns = 0
    FROM fresh
    WHERE NOT fresh.is_new AND session.project = fresh.project AND session.session_id = fresh.session_id
      AND session.deleted_at IS NULL AND session.turn_owner IS NULL
      AND (fresh.now > session.updated_at OR ${positionOfMessage('fresh.message_id')} IS NULL)
    RETURNING session.id, session.project, session.session_id, session.turn_position, session.turn_epoch,
      session.parameters, session.system
  ), begun AS (
    SELECT fresh.*, held.id, held.turn_position, held.turn_epoch, held.parameters, held.system
    FROM (SELECT * FROM made UNION ALL SELECT * FROM taken) AS held JOIN fresh USING (project, session_id)
  ), message AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, created_at)
    SELECT id, turn_position, message_id, 'user', content, mode, now FROM begun
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT project, id, turn_position, octet_length(content) FROM begun
  ), recorded AS (
    INSERT INTO parley.idempotency (project, key, request_hash, session, position, message_id)
    SELECT project, key, request_hash, id, turn_position, message_id FROM begun WHERE key IS NOT NULL
  )
  SELECT input.number, input.is_refused, begun.turn_position, begun.turn_epoch, begun.parameters, begun.system,
    ${knownFields}
  FROM input LEFT JOIN begun USING (number) LEFT JOIN known USING (number)`);

const standingColumns = `
  session.id, session.session_id, session.message_count, session.turn_owner, session.turn_position, session.turn_epoch,
  (${leaseUntil()})::text AS lease_until, ${leaseUntil('$3::text')} <= clock_timestamp() AS is_lease_over,
  session.parameters, session.system, asked.mode AS asked_mode,
  EXISTS (
    SELECT 1 FROM parley.messages AS reply
    WHERE reply.session = session.id AND reply.position = session.turn_position + 1
  ) AS has_reply`;
const askedMessage = `
  LEFT JOIN parley.messages AS asked ON asked.session = session.id AND asked.position = session.turn_position`;

export interface StandingRow extends Pick<SessionRow, 'parameters' | 'system'> {
  readonly id: number;
  readonly session_id: string;
  /** Also the position of the next message. */
  readonly message_count: number;
  readonly turn_owner: string | null;
  readonly turn_position: number | null;
  readonly turn_epoch: number;
  readonly lease_until: string | null;
  readonly is_lease_over: boolean | null;
  /** The mode of the message whose turn is open. */
  readonly asked_mode: string | null;
  readonly has_reply: boolean;
}

/** The open turn of an active session. $3: the owner that asks. $4: the id of its message, which an earlier sending may have stored. */
export const openTurn = statement(`
  SELECT ${standingColumns}, ${positionOfMessage('$4')} AS own_position
  FROM parley.sessions AS session ${askedMessage}
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL`);

/**
 * The standing turn in the session of a message whose idempotency key came again, and that message. $4: its position. $5: its id; null if
 * the key names the position alone.
 */
export const repeatedTurn = statement(`
  SELECT ${standingColumns}, own.*
  FROM parley.sessions AS session
  CROSS JOIN LATERAL (
    SELECT asked.message_id, asked.position, asked.content, asked.mode, false AS is_undone FROM parley.messages AS asked
    WHERE asked.session = session.id AND asked.position = $4 AND ($5::text IS NULL OR asked.message_id = $5)
    UNION ALL
    SELECT asked.message_id, asked.position, asked.content, asked.mode, true FROM parley.hidden_messages AS asked
    WHERE asked.session = session.id AND asked.position = $4 AND asked.message_id = $5
  ) AS own
  ${askedMessage}
  WHERE ${ofProject} AND session.id = $2 AND session.deleted_at IS NULL`);

export interface RepeatedRow
  extends StandingRow,
    Pick<MessageRow, 'message_id' | 'position' | 'content' | 'mode'> {
  readonly is_undone: boolean;
}

/** The standing turn in an active session, and its last message. The columns of the message are null in a session without messages. */
export const lastTurn = statement(`
  SELECT ${standingColumns}, own.message_id, own.position, own.content, own.mode, own.created_at, session.updated_at
  FROM parley.sessions AS session
  LEFT JOIN parley.messages AS own ON own.session = session.id AND own.position = (session.message_count - 1) / 2 * 2
  ${askedMessage}
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL`);

export type LastTurnRow = StandingRow & {
  readonly updated_at: number;
} & (UserMessageRow | { readonly message_id: null });

/** A message of the user. */
export type UserMessageRow = Pick<MessageRow, 'message_id' | 'position' | 'content' | 'mode' | 'created_at'>;

/** The message at a position, in a session given by its row number. */
export const replyAt = statement(`
  SELECT ${messageColumns} FROM parley.sessions AS session
  JOIN parley.messages AS message ON message.session = session.id
  WHERE ${ofProject} AND session.id = $2 AND message.position = $3`);

/**
 * The reply to a message, which may be undone: its first whole one, or else the visible one. Ids of replies grow with time. $3: the
 * position of the message. $4: its id. $5: the id of the reply of a regeneration, whole or cut; null for any. $6: true for the visible one,
 * whatever the others are.
 */
export const replyTo = statement(`
  SELECT reply.* FROM parley.sessions AS session
  CROSS JOIN LATERAL (
    SELECT ${visibleColumns}, true AS stands FROM parley.messages AS message
    WHERE message.session = session.id AND message.position = $3 + 1 AND EXISTS (
      SELECT 1 FROM parley.messages AS own
      WHERE own.session = session.id AND own.position = $3 AND own.message_id = $4)
    UNION ALL
    SELECT ${hiddenColumns}, message.undone_at IS NOT NULL FROM parley.hidden_messages AS message
    WHERE message.session = session.id AND message.position = $3 + 1 AND (
      message.alternative_of = $4 OR message.undone_at = (
        SELECT own.undone_at FROM parley.hidden_messages AS own
        WHERE own.session = session.id AND own.position = $3 AND own.message_id = $4))
  ) AS reply
  CROSS JOIN LATERAL (SELECT reply.finish_reason IN ('stop', 'length') AS is_whole) AS state
  WHERE ${ofProject} AND session.id = $2
    AND CASE WHEN $6 THEN reply.stands WHEN $5::text IS NULL THEN is_whole OR reply.stands ELSE reply.message_id = $5 END
  ORDER BY is_whole DESC, reply.stands, reply.message_id LIMIT 1`);

const stillStands = `
  ${ofProject} AND session.id = $2 AND session.deleted_at IS NULL AND session.turn_epoch = $3
  AND session.turn_owner IS NOT DISTINCT FROM $4 AND ${leaseUntil()} IS NOT DISTINCT FROM $5::timestamptz
  AND session.message_count = $6`;

// $7: owner, or null if the standing turn is only closed. $8: lease (ms). $9: now. $10: the id of the reply that closes the standing turn,
// or null; $11: its mode. $12: the id of the new message, or null if the stored message at the position $13 is asked again. $14: content.
// $15: mode. $16: key or null; $17: its hash. $18: the position of the standing turn. $19: the id of the message whose turn begins. $20:
// the id of the reply that a regeneration makes; $21: the key of a regeneration that is tried again.
const takeStanding = `
  WITH taken AS (
    UPDATE parley.sessions AS session SET
      message_count = session.message_count + ($10::text IS NOT NULL)::integer + ($12::text IS NOT NULL)::integer,
      updated_at = CASE WHEN $10::text IS NULL AND $12::text IS NULL THEN session.updated_at
        ELSE greatest(session.updated_at, $9::bigint) END,
      turn_owner = $7, turn_until = CASE WHEN $7::text IS NOT NULL THEN ${leaseEnd('$8::integer')} END,
      turn_position = CASE WHEN $7::text IS NOT NULL
        THEN coalesce($13::integer, session.message_count + ($10::text IS NOT NULL)::integer) END,
      turn_epoch = session.turn_epoch + 1, undone_turns = 0,
      mode = CASE WHEN $12::text IS NULL AND $20::text IS NULL THEN session.mode ELSE $15 END
    WHERE ${stillStands}
    RETURNING session.id, session.project, session.turn_position, session.turn_epoch, session.message_count
  ), closing AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
    SELECT id, taken.message_count - 1 - ($12::text IS NOT NULL)::integer, coalesce(said.message_id, $10), 'assistant',
      coalesce(said.content, ''), coalesce(said.mode, $11), 'interrupted', coalesce(said.created_at, $9)
    FROM taken LEFT JOIN LATERAL (${replySoFar('taken.id', '$3')}) AS said ON true WHERE $10::text IS NOT NULL
    RETURNING session, position, octet_length(content) AS bytes
  ), parts AS (${partsAsAlternative('taken', '$18', '$10::text IS NULL')}
  ), message AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, created_at)
    SELECT id, turn_position, $12, 'user', $14, $15, $9 FROM taken WHERE $12::text IS NOT NULL
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT project, id, turn_position, octet_length($14::text) FROM taken WHERE $12::text IS NOT NULL
    UNION ALL SELECT taken.project, closing.session, closing.position, closing.bytes
      FROM closing JOIN taken ON taken.id = closing.session WHERE closing.bytes > 0
  ), recorded AS (
    INSERT INTO parley.idempotency (project, key, request_hash, session, position, message_id, reply_id)
    SELECT project, $16, $17::bytea, id, turn_position, $19, $20 FROM taken WHERE $16::text IS NOT NULL
  ), tried AS (
    UPDATE parley.idempotency AS known SET reply_id = $20 FROM taken
    WHERE known.project = taken.project AND known.key = $21
  )
  SELECT turn_position, turn_epoch FROM taken`;
export const takeTurn = statement(takeStanding);

// After a lost connection: if the first sending took the turn, the turn has the next epoch.
export const takeTurnAgain = statement(`
  ${takeStanding}
  UNION ALL
  SELECT session.turn_position, session.turn_epoch FROM parley.sessions AS session
  WHERE ${ofProject} AND session.id = $2 AND session.turn_owner = $7 AND session.turn_epoch = $3 + 1`);
