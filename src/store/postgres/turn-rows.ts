// The statements of turns. The turn_ columns of a session hold its turn. If the owner is empty, the last message of the session, if any, is
// a reply. The statements for groups (begin, end) write the usual case alone: no turn stands in the session, no reply stands in the place
// of the new one. In any other case they change nothing. The rules of a turn then decide, and other statements write the decision, but only
// if the state that the rules read is unchanged.

import { messageColumns, type SessionRow } from '../rows.ts';
import { knownColumns } from './idempotency.ts';
import { isRefused } from './keys.ts';
import { textSoFar } from './reply-parts.ts';
import { leaseUntil } from './servers.ts';
import { statement } from './statement.ts';

const leaseEnd = (ms: string) => `clock_timestamp() + ${ms} * interval '1 millisecond'`;

// A message that stands already was begun by another sending of the same call, whose turn is over by now. Its time is not after that of the
// last activity then, so of most messages this is not asked.
export const beginTurns = statement(`
  WITH input AS MATERIALIZED (
    SELECT input.*, projects.id AS project, ${isRefused('input.key_hash', 'projects.id')} AS is_refused
    FROM unnest($1::integer[], $2::text[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[], $8::text[],
      $9::bigint[], $10::text[], $11::integer[], $12::text[], $13::bytea[], $14::bigint[], $15::bytea[], $16::text[],
      $17::text[])
      AS input (number, project_id, session_id, is_new, title, message_id, content, mode, now, owner, lease_ms, key,
        request_hash, kept_ms, key_hash, new_parameters, new_system)
    JOIN parley.projects USING (project_id)
  ), known AS MATERIALIZED (
    SELECT input.number, ${knownColumns('input.kept_ms')}
    FROM input JOIN parley.idempotency AS known ON known.project = input.project AND known.key = input.key
  ), fresh AS MATERIALIZED (
    SELECT * FROM input WHERE NOT is_refused AND number NOT IN (SELECT number FROM known)
  ), made AS (
    INSERT INTO parley.sessions (project, session_id, title, created_at, updated_at, message_count, turn_owner,
      turn_until, turn_position, turn_epoch, mode, parameters, system)
    SELECT project, session_id, title, now, now, 1, owner, ${leaseEnd('lease_ms')}, 0, 1, mode, new_parameters, new_system
    FROM fresh WHERE is_new
    ON CONFLICT (project, session_id) DO NOTHING
    RETURNING id, project, session_id, turn_position, turn_epoch, NULL::text AS parameters, NULL::text AS system
  ), taken AS (
    UPDATE parley.sessions AS session SET
      message_count = session.message_count + 1, updated_at = greatest(session.updated_at, fresh.now),
      turn_owner = fresh.owner, turn_until = ${leaseEnd('fresh.lease_ms')}, turn_position = session.message_count,
      turn_epoch = session.turn_epoch + 1, mode = fresh.mode
    FROM fresh
    WHERE NOT fresh.is_new AND session.project = fresh.project AND session.session_id = fresh.session_id
      AND session.deleted_at IS NULL AND session.turn_owner IS NULL
      AND (fresh.now > session.updated_at OR NOT EXISTS (
        SELECT 1 FROM parley.messages AS told
        WHERE told.session = session.id AND told.message_id = fresh.message_id))
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
    INSERT INTO parley.idempotency (project, key, request_hash, session, position)
    SELECT project, key, request_hash, id, turn_position FROM begun WHERE key IS NOT NULL
  )
  SELECT input.number, input.is_refused, begun.turn_position, begun.turn_epoch, begun.parameters, begun.system, known.request_hash,
    known.is_old, known.known_session, known.known_position, known.answer
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
const ofProject = 'session.project = (SELECT id FROM parley.projects WHERE project_id = $1)';

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
  /** Of the message whose turn stands. */
  readonly asked_mode: string | null;
  readonly has_reply: boolean;
}

/** The turn that stands in an active session. $3: the owner that asks. $4: the id of its message, which another sending may have told. */
export const standingTurn = statement(`
  SELECT ${standingColumns}, (
    SELECT told.position FROM parley.messages AS told WHERE told.session = session.id AND told.message_id = $4
  ) AS told_position
  FROM parley.sessions AS session ${askedMessage}
  WHERE ${ofProject} AND session.session_id = $2 AND session.deleted_at IS NULL`);

/** The standing turn in the session of a message whose idempotency key came again, and that message. */
export const repeatedTurn = statement(`
  SELECT ${standingColumns}, own.message_id, own.position, own.content, own.mode
  FROM parley.sessions AS session
  JOIN parley.messages AS own ON own.session = session.id AND own.position = $4
  ${askedMessage}
  WHERE ${ofProject} AND session.id = $2 AND session.deleted_at IS NULL`);

export interface RepeatedRow extends StandingRow {
  readonly message_id: string;
  readonly position: number;
  readonly content: string;
  readonly mode: string;
}

/** The message at a position, in a session given by its row number. */
export const replyAt = statement(`
  SELECT ${messageColumns} FROM parley.sessions AS session
  JOIN parley.messages AS message ON message.session = session.id
  WHERE ${ofProject} AND session.id = $2 AND message.position = $3`);

const stillStands = `
  ${ofProject} AND session.id = $2 AND session.deleted_at IS NULL AND session.turn_epoch = $3
  AND session.turn_owner IS NOT DISTINCT FROM $4 AND ${leaseUntil()} IS NOT DISTINCT FROM $5::timestamptz
  AND session.message_count = $6`;

// $7: owner. $8: lease (ms). $9: now. $10: the id of the reply that closes the standing turn, or null; $11: its mode. $12: the id of the
// new message, or null if the stored message at the position $13 is asked again. $14: content. $15: mode. $16: key or null; $17: its hash.
const takeStanding = `
  WITH taken AS (
    UPDATE parley.sessions AS session SET
      message_count = session.message_count + ($10::text IS NOT NULL)::integer + ($12::text IS NOT NULL)::integer,
      updated_at = CASE WHEN $10::text IS NULL AND $12::text IS NULL THEN session.updated_at
        ELSE greatest(session.updated_at, $9::bigint) END,
      turn_owner = $7, turn_until = ${leaseEnd('$8::integer')},
      turn_position = coalesce($13::integer, session.message_count + ($10::text IS NOT NULL)::integer),
      turn_epoch = session.turn_epoch + 1,
      mode = CASE WHEN $12::text IS NULL THEN session.mode ELSE $15 END
    WHERE ${stillStands}
    RETURNING session.id, session.project, session.turn_position, session.turn_epoch, session.message_count
  ), closing AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, finish_reason, created_at)
    SELECT id, message_count - 1 - ($12::text IS NOT NULL)::integer, $10, 'assistant',
      coalesce(${textSoFar('taken.id', '$3')}, ''), $11, 'interrupted', $9
    FROM taken WHERE $10::text IS NOT NULL
    RETURNING session, position, octet_length(content) AS bytes
  ), message AS (
    INSERT INTO parley.messages (session, position, message_id, role, content, mode, created_at)
    SELECT id, turn_position, $12, 'user', $14, $15, $9 FROM taken WHERE $12::text IS NOT NULL
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT project, id, turn_position, octet_length($14::text) FROM taken WHERE $12::text IS NOT NULL
    UNION ALL SELECT taken.project, closing.session, closing.position, closing.bytes
      FROM closing JOIN taken ON taken.id = closing.session WHERE closing.bytes > 0
  ), recorded AS (
    INSERT INTO parley.idempotency (project, key, request_hash, session, position)
    SELECT project, $16, $17::bytea, id, turn_position FROM taken WHERE $16::text IS NOT NULL
  )
  SELECT turn_position, turn_epoch FROM taken`;
export const takeTurn = statement(takeStanding);

// After a lost connection: if the first sending took the turn, the turn has the next epoch.
export const takeTurnAgain = statement(`
  ${takeStanding}
  UNION ALL
  SELECT session.turn_position, session.turn_epoch FROM parley.sessions AS session
  WHERE ${ofProject} AND session.id = $2 AND session.turn_owner = $7 AND session.turn_epoch = $3 + 1`);

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

/** The turn of a session, deleted or not. */
export const anyTurn = statement(`
  SELECT session.id, session.message_count, session.turn_owner, session.turn_position, session.turn_epoch
  FROM parley.sessions AS session WHERE ${ofProject} AND session.session_id = $2`);

export type AnyTurnRow = Pick<
  StandingRow,
  'id' | 'message_count' | 'turn_owner' | 'turn_position' | 'turn_epoch'
>;

// $7: now. $8: true if the turn is released. $9: the id of the cut reply that is replaced, or null. $10: its position. $11 to $18: the
// reply.
export const replaceReply = statement(`
  WITH held AS (
    UPDATE parley.sessions AS session SET
      updated_at = CASE WHEN $9::text IS NULL THEN session.updated_at
        ELSE greatest(session.updated_at, $7::bigint) END,
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
  ), replaced AS (
    UPDATE parley.messages AS message SET message_id = $11, content = $12, mode = $13, finish_reason = $14,
      input_tokens = $15::bigint, output_tokens = $16::bigint, first_token_ms = $17::bigint, error_code = $18,
      created_at = $7::bigint
    FROM held WHERE $9::text IS NOT NULL AND message.session = held.id AND message.position = $10
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
