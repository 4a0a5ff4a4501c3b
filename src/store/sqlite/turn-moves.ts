// Undo and redo: the last turn of a session is hidden, or the turn that was undone last is shown again. Each is one transaction.
import type { Message } from '../../service/session.ts';
import type { MovedTurn } from '../../service/session-archive.ts';
import {
  hiddenColumns,
  type MessageRow,
  messageColumns,
  type SessionRow,
  toMessage,
  toSession,
} from '../rows.ts';
import type { TurnMove, TurnMoveEnd } from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import type { Connection } from './connection.ts';
import { hideTurn, showTurn } from './hidden-messages.ts';
import { findRecorded, keepAnswer, type WriteTools } from './idempotency.ts';
import { sessionColumns, thisSession } from './sessions.ts';
import { messageCount, sessionRow, type TurnRow, turnColumns } from './turn-rows.ts';
import { endAbandoned, standingTurn } from './turn-taking.ts';

/**
 * SQL: the mode of the last turn: the one that its message was sent in, or, if that was asked again, that of its reply. Null in a session
 * without messages, and if the message or the reply comes from another program.
 */
const modeOfLastTurn = `(
  SELECT coalesce((
    SELECT reply.mode FROM messages AS reply
    WHERE reply.session = asked.session AND reply.position = asked.position + 1
      AND instr(reply.message_id, '/') = 0 AND EXISTS (
        SELECT 1 FROM hidden_messages AS other
        WHERE other.session = asked.session AND other.position = asked.position + 1
          AND other.alternative_of = asked.message_id)), iif(instr(asked.message_id, '/') = 0, asked.mode, NULL))
  FROM messages AS asked
  WHERE asked.session = sessions.id AND asked.position = sessions.message_count + @added - 2)`;

export const moveStatements = {
  session: `
    SELECT ${turnColumns}, undone_turns, max(updated_at + 1, @now) AS moved_at FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  // An abandoned turn is over then. Whoever still runs it notices at the next renewal.
  move: `
    UPDATE sessions SET message_count = message_count + @added, undone_turns = undone_turns + @undone,
      updated_at = @movedAt, turn_owner = NULL, turn_until = NULL, turn_position = NULL,
      mode = coalesce(${modeOfLastTurn}, mode)
    WHERE ${thisSession} RETURNING ${sessionColumns}`,
  visible: `
    SELECT ${messageColumns} FROM messages AS message WHERE session = ${sessionRow} AND position = @position`,
  undone: `
    SELECT ${hiddenColumns} FROM hidden_messages AS message
    WHERE session = ${sessionRow} AND position = @position AND undone_at = @undoneAt`,
} as const;

interface MovedRow extends TurnRow {
  readonly undone_turns: number;
  /** The time of a move: later than every earlier move of the session. */
  readonly moved_at: number;
}

export function undoTurn(tools: WriteTools, projectId: string, move: TurnMove): TurnMoveEnd {
  return moveTurn(tools, projectId, move, (row, decision) => {
    const { connection } = tools;
    const { session_id: sessionId, moved_at: undoneAt } = row;
    endAbandoned(connection, projectId, row, move, decision);
    const position = messageCount(connection, projectId, sessionId) - 2;
    if (position < 0) return null;
    hideTurn(connection, { projectId, sessionId, position }, undoneAt);
    const session = moved(connection, projectId, row, 1);
    const bindings = { projectId, sessionId, position, undoneAt };
    return session && { session, message: messageOf(connection.get(moveStatements.undone, bindings)) };
  });
}

export function redoTurn(tools: WriteTools, projectId: string, move: TurnMove): TurnMoveEnd {
  return moveTurn(tools, projectId, move, (row) => {
    const { connection } = tools;
    const { session_id: sessionId, message_count: position } = row;
    const place = { projectId, sessionId, position };
    if (row.undone_turns === 0 || !showTurn(connection, place)) return null;
    const session = moved(connection, projectId, row, -1);
    return session && { session, message: messageOf(connection.get(moveStatements.visible, place)) };
  });
}

/**
 * `work` returns null if there is no turn to move. `close and take`: the last turn has no reply, and its owner is gone. Only a move that
 * was made is stored with its key.
 */
function moveTurn(
  tools: WriteTools,
  projectId: string,
  move: TurnMove,
  work: (row: MovedRow, decision: 'take' | 'close and take') => MovedTurn | null,
): TurnMoveEnd {
  const { connection } = tools;
  const { idempotencyKey, session_id: sessionId, now } = move;
  const recorded = idempotencyKey === null ? null : findRecorded<MovedTurn>(tools, projectId, idempotencyKey);
  if (recorded !== null) return recorded;
  const row = connection.get<MovedRow>(moveStatements.session, { projectId, sessionId, now });
  if (row === undefined) return { kind: 'not_found' };
  const decision = tools.rules.turns.begin(standingTurn(tools, projectId, row), move.deadOwner);
  if (decision === 'busy') return busyWith(row);
  const value = work(row, decision);
  if (value === null) return { kind: 'nothing' };
  return keepAnswer(tools, projectId, idempotencyKey, value);
}

function moved(connection: Connection, projectId: string, row: MovedRow, undone: 1 | -1) {
  const session = connection.get<SessionRow>(moveStatements.move, {
    ...{ projectId, sessionId: row.session_id, movedAt: row.moved_at },
    ...{ undone, added: -2 * undone },
  });
  return session === undefined ? null : toSession(session);
}

function messageOf(row: MessageRow | undefined): Message {
  return toMessage(row as MessageRow);
}
