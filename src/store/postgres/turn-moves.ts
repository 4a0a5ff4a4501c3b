// Undoes and redoes turns: the messages of a turn move to the hidden messages, or back. Each write holds only if the session is as it was
// read. A turn whose owner has gone is closed first.
import { toTime } from '../../service/iso-time.ts';
import type { Message } from '../../service/session.ts';
import { type SessionRow, toSession } from '../rows.ts';
import type { TurnMove, TurnMoveEnd } from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import type { TurnRules } from '../store-rules.ts';
import type { Ask } from './connection-pool.ts';
import { movedColumns } from './message-columns.ts';
import { ofProject, sessionColumns, sessionFields } from './sessions.ts';
import { type Statement, statement } from './statement.ts';
import { type LastTurnRow, lastTurn, type UserMessageRow } from './turn-rows.ts';
import { closeTurn, standingTurn } from './turn-taking.ts';

const asRead = `
  ${ofProject} AND session.id = $2 AND session.turn_epoch = $3 AND session.message_count = $4
  AND session.turn_owner IS NULL AND session.deleted_at IS NULL`;
/** SQL: the session if the first sending of the statement has moved the turn. `isMoved`: SQL that is true then. */
const afterFirstSending = (isMoved: string) => `
  UNION ALL
  SELECT ${sessionColumns} FROM parley.sessions AS session
  WHERE ${ofProject} AND session.id = $2 AND session.turn_epoch = $3 + 1 AND ${isMoved}`;

/**
 * SQL: the mode of the turn whose message is `asked`: the one that the message was sent in, or, if it was asked again, that of its reply,
 * which is in the same table. Null if the message comes from another program.
 */
const modeOfTurn = (table: string) => `
      SELECT coalesce((
        SELECT reply.mode FROM parley.${table} AS reply
        WHERE reply.session = asked.session AND reply.position = asked.position + 1
          AND strpos(reply.message_id, '/') = 0
          ${table === 'messages' ? '' : 'AND reply.undone_at = asked.undone_at'} AND EXISTS (
            SELECT 1 FROM parley.hidden_messages AS other
            WHERE other.session = asked.session AND other.position = asked.position + 1
              AND other.alternative_of = asked.message_id)),
        CASE WHEN strpos(asked.message_id, '/') = 0 THEN asked.mode END)
      FROM parley.${table} AS asked`;

// $5: the position of the turn's message. $6: its id. $7: the time of the undo. A key that names the position alone is given the message
// before another one takes that position.
const hideTurn = `
  WITH held AS (
    UPDATE parley.sessions AS session SET message_count = $5::integer, undone_turns = session.undone_turns + 1,
      updated_at = $7::bigint, turn_epoch = session.turn_epoch + 1, mode = coalesce((${modeOfTurn('messages')}
      WHERE asked.session = session.id AND asked.position = $5 - 2), session.mode)
    WHERE ${asRead}
    RETURNING ${sessionColumns}, session.id, session.project
  ), gone AS (
    DELETE FROM parley.messages AS message USING held
    WHERE message.session = held.id AND message.position >= $5 RETURNING message.*
  ), hidden AS (
    INSERT INTO parley.hidden_messages (session, ${movedColumns}, undone_at)
    SELECT session, ${movedColumns}, $7::bigint FROM gone
  ), named AS (
    UPDATE parley.idempotency AS known SET message_id = $6 FROM held
    WHERE known.session = held.id AND known.position = $5 AND known.message_id IS NULL
  ), queued AS (
    DELETE FROM parley.to_index USING held
    WHERE to_index.project = held.project AND to_index.session = held.id AND to_index.position >= $5
  ), words AS (
    DELETE FROM parley.search USING held WHERE search.session = held.id AND search.position >= $5
  )
  SELECT ${sessionFields} FROM held`;
const hide = statement(hideTurn);
const hideAgain = statement(`
  ${hideTurn} ${afterFirstSending(`EXISTS (
    SELECT 1 FROM parley.hidden_messages AS gone
    WHERE gone.session = session.id AND gone.position = $5 AND gone.message_id = $6 AND gone.undone_at = $7)`)}`);

/**
 * The message of the turn that was undone last, if it can be brought back. Its position holds another message if an older server, which
 * knows no undo, has gone on with the session.
 */
const undoneLast = statement(`
  SELECT message.message_id, message.position, message.content, message.mode, message.created_at, message.undone_at
  FROM parley.sessions AS session
  CROSS JOIN LATERAL (
    SELECT * FROM parley.hidden_messages AS undone WHERE undone.session = session.id AND undone.undone_at IS NOT NULL
    ORDER BY undone.undone_at DESC, undone.position LIMIT 1
  ) AS message
  WHERE ${ofProject} AND session.id = $2 AND session.undone_turns > 0 AND message.position = session.message_count`);

// $5: the time of the undo. $6: the id of the turn's message. $7: the time of the redo.
const showTurn = `
  WITH held AS (
    UPDATE parley.sessions AS session SET message_count = session.message_count + 2,
      undone_turns = session.undone_turns - 1, updated_at = $7::bigint, turn_epoch = session.turn_epoch + 1,
      mode = coalesce((${modeOfTurn('hidden_messages')}
      WHERE asked.session = session.id AND asked.position = $4 AND asked.message_id = $6 AND asked.undone_at = $5),
        session.mode)
    WHERE ${asRead} AND session.undone_turns > 0 AND EXISTS (
      SELECT 1 FROM parley.hidden_messages AS gone
      WHERE gone.session = session.id AND gone.position = $4 AND gone.message_id = $6 AND gone.undone_at = $5)
    RETURNING ${sessionColumns}, session.id, session.project
  ), back AS (
    DELETE FROM parley.hidden_messages AS message USING held
    WHERE message.session = held.id AND message.undone_at = $5 RETURNING message.*
  ), shown AS (
    INSERT INTO parley.messages (session, ${movedColumns}) SELECT session, ${movedColumns} FROM back
  ), queued AS (
    INSERT INTO parley.to_index (project, session, position, bytes)
    SELECT held.project, back.session, back.position, octet_length(back.content)
    FROM back JOIN held ON held.id = back.session WHERE back.content <> ''
    ON CONFLICT (project, session, position) DO UPDATE SET bytes = excluded.bytes
  )
  SELECT ${sessionFields} FROM held`;
const show = statement(showTurn);
const showAgain = statement(`
  ${showTurn} ${afterFirstSending(`EXISTS (
    SELECT 1 FROM parley.messages AS back
    WHERE back.session = session.id AND back.position = $4 AND back.message_id = $6)`)}`);

interface MoveOptions {
  readonly rules: TurnRules;
  readonly projectId: string;
  readonly move: TurnMove;
  /** The owner of the turns of this process if it serves, otherwise null. */
  readonly server: string | null;
}

export function undoTurn(ask: Ask, options: MoveOptions): Promise<TurnMoveEnd> {
  return moveTurn(ask, options, [hide, hideAgain], async (row, movedAt) => {
    if (row.message_id === null) return null;
    const message = { ...messageOf(row), undone_at: toTime(movedAt) };
    return { values: [row.position, row.message_id, movedAt], message };
  });
}

export function redoTurn(ask: Ask, options: MoveOptions): Promise<TurnMoveEnd> {
  return moveTurn(ask, options, [show, showAgain], async (row, movedAt) => {
    const values = [options.projectId, row.id];
    const [undone] = await ask<UserMessageRow & { readonly undone_at: number }>(undoneLast, values);
    if (undone === undefined) return null;
    return { values: [undone.undone_at, undone.message_id, movedAt], message: messageOf(undone) };
  });
}

/** `turnOf`: the last values of the statement and the message of the turn; null if there is no turn to move. The session then stays as it is. */
async function moveTurn(
  ask: Ask,
  { rules, projectId, move, server }: MoveOptions,
  [one, again]: readonly [Statement, Statement],
  turnOf: (row: LastTurnRow, movedAt: number) => Promise<MovedMessage | null>,
): Promise<TurnMoveEnd> {
  for (;;) {
    const [row] = await ask<LastTurnRow>(lastTurn, [projectId, move.session_id, server]);
    if (row === undefined) return { kind: 'not_found' };
    const standing = standingTurn(row);
    if (standing !== null && rules.begin(standing, move.deadOwner) === 'busy') return busyWith(row);
    const turn = await turnOf(row, timeOfMove(move, row));
    if (turn === null) return { kind: 'nothing' };
    if (standing !== null) {
      await closeTurn(ask, projectId, row, move);
      continue;
    }
    const values = [projectId, row.id, row.turn_epoch, row.message_count, ...turn.values];
    const [session] = await ask<SessionRow>(one, values, again);
    if (session !== undefined)
      return { kind: 'done', value: { session: toSession(session), message: turn.message } };
  }
}

interface MovedMessage {
  readonly values: readonly unknown[];
  readonly message: Message;
}

/** The time of a move, which is later than every earlier move of the session. */
function timeOfMove({ now }: TurnMove, { updated_at }: LastTurnRow): number {
  return Math.max(now, updated_at + 1);
}

function messageOf({ message_id, position, content, mode, created_at }: UserMessageRow): Message {
  return {
    ...{ message_id, position, role: 'user', content, mode, finish_reason: null, usage: null },
    created_at: toTime(created_at),
  };
}
