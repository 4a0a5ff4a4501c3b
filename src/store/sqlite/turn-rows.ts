// The statements of turns. The turn_ columns of a session hold its turn. If the owner is empty, the last message of the session, if any, is
// a reply. turns.ts chooses the statements.
import { ParleyError } from '../../service/errors.ts';
import type { FinishReason, Message } from '../../service/session.ts';
import type { MessageRow, SessionRow } from '../rows.ts';
import { messageColumns, toMessage } from '../rows.ts';
import type { Turn } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { inProject, thisSession } from './sessions.ts';

/** The row number of a session. */
export const sessionRow = `(SELECT id FROM sessions WHERE ${thisSession})`;
export const turnColumns = 'session_id, message_count, turn_owner, turn_until, turn_position, turn_epoch';
const storedTurnColumns = `${turnColumns}, parameters, system,
  message.message_id, message.position, message.mode, message.content, message.id AS row`;
const addedMessage = 'message_count = message_count + 1, updated_at = max(updated_at, @now)';
const takenTurn = `turn_owner = @owner, turn_until = @until, turn_position = @position, turn_epoch = @epoch,
  mode = coalesce(@mode, mode), undone_turns = 0`;
const noTurn = 'turn_owner = NULL, turn_until = NULL, turn_position = NULL';
const thisTurn = `${thisSession} AND turn_owner = @owner AND turn_epoch = @epoch AND turn_position = @position`;

export const turnStatements = {
  session: `SELECT ${turnColumns} FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  sessionToTake: `
    SELECT ${turnColumns}, parameters, system FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  anySession: `SELECT ${turnColumns} FROM sessions WHERE ${thisSession}`,
  keptTurn: `
    SELECT ${storedTurnColumns}, NULL AS undone_at
    FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
    WHERE message.id = @message AND ${inProject} AND deleted_at IS NULL`,
  undoneTurn: `
    SELECT ${storedTurnColumns}, message.undone_at
    FROM hidden_messages AS message CROSS JOIN sessions ON sessions.id = message.session
    WHERE message.id = @hidden AND ${inProject} AND deleted_at IS NULL`,
  lastTurn: `
    SELECT ${storedTurnColumns}, NULL AS undone_at
    FROM sessions CROSS JOIN messages AS message ON message.session = sessions.id
    WHERE ${thisSession} AND deleted_at IS NULL AND message.position = (message_count - 1) / 2 * 2`,
  reply: `
    SELECT ${messageColumns} FROM messages AS message WHERE session = ${sessionRow} AND position = @position + 1`,
  // The position of an undone message may hold another message.
  replyTo: `
    SELECT ${messageColumns} FROM messages AS message WHERE session = ${sessionRow} AND position = @position + 1
      AND EXISTS (SELECT 1 FROM messages AS asked
        WHERE asked.session = message.session AND asked.position = @position AND asked.message_id = @messageId)`,
  addMessage: `
    INSERT INTO messages (session, position, message_id, role, content, mode, finish_reason, input_tokens,
      output_tokens, first_token_ms, error_code, created_at)
    VALUES (${sessionRow}, @position, @messageId, @role, @content, @mode, @finishReason, @inputTokens,
      @outputTokens, @firstTokenMs, @errorCode, @now)`,
  replaceReply: `
    UPDATE messages SET message_id = @messageId, content = @content, mode = @mode,
      finish_reason = @finishReason, input_tokens = @inputTokens, output_tokens = @outputTokens,
      first_token_ms = @firstTokenMs, error_code = @errorCode, created_at = @now, copied = NULL
    WHERE session = ${sessionRow} AND position = @position`,
  // An activity never moves a session back in time: the clock may have been corrected, or a reply may come after a newer turn. One that
  // changes no count changes the time, so that a listing shows every activity.
  touch: `
    UPDATE sessions SET message_count = message_count + @added, updated_at = max(updated_at + (@added = 0), @now)
    WHERE ${thisSession}`,
  take: `UPDATE sessions SET ${takenTurn} WHERE ${thisSession}`,
  // Each update of a session changes several indexes, so a turn begins and ends with one.
  addAndTake: `UPDATE sessions SET ${addedMessage}, ${takenTurn} WHERE ${thisSession}`,
  held: `SELECT turn_until FROM sessions WHERE ${thisTurn}`,
  renew: `UPDATE sessions SET turn_until = @until WHERE ${thisTurn}`,
  giveBack: `UPDATE sessions SET ${noTurn} WHERE ${thisTurn}`,
  addAndGiveBack: `UPDATE sessions SET ${addedMessage}, ${noTurn} WHERE ${thisTurn}`,
  asked: `SELECT message_id, mode FROM messages WHERE session = ${sessionRow} AND position = @position`,
} as const;

export interface TurnRow {
  readonly session_id: string;
  /** Also the position of the next message. */
  readonly message_count: number;
  readonly turn_owner: string | null;
  readonly turn_until: number;
  readonly turn_position: number;
  readonly turn_epoch: number;
}

export type TakenRow = TurnRow & Pick<SessionRow, 'system' | 'parameters'>;

export interface StoredTurnRow extends TakenRow {
  /** The row number of the message, in the table that holds it. */
  readonly row: number;
  /** Null for a visible message. */
  readonly undone_at: number | null;
  readonly message_id: string;
  readonly position: number;
  readonly mode: string;
  readonly content: string;
}

export interface NewMessage {
  readonly position: number;
  readonly messageId: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly mode: string;
  readonly finishReason: FinishReason | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly firstTokenMs: number | null;
  readonly errorCode: string | null;
  readonly now: number;
}

export const noReply = {
  finishReason: null,
  inputTokens: null,
  outputTokens: null,
  firstTokenMs: null,
  errorCode: null,
} as const;

/** Adds a message and returns its row number. The row of its session is left to the caller. */
export function insertMessage(
  connection: Connection,
  projectId: string,
  sessionId: string,
  message: NewMessage,
): number {
  return connection.run(turnStatements.addMessage, { projectId, sessionId, ...message }).rowId;
}

/** Adds a message, and counts it in its session. */
export function addMessage(
  connection: Connection,
  projectId: string,
  sessionId: string,
  message: NewMessage,
): void {
  insertMessage(connection, projectId, sessionId, message);
  connection.run(turnStatements.touch, { projectId, sessionId, added: 1, now: message.now });
}

/** The session of a turn, also if it is deleted. */
export function turnRow(connection: Connection, projectId: string, sessionId: string): TurnRow | null {
  return connection.get<TurnRow>(turnStatements.anySession, { projectId, sessionId }) ?? null;
}

export function messageCount(connection: Connection, projectId: string, sessionId: string): number {
  const row = turnRow(connection, projectId, sessionId);
  if (row === null) throw new ParleyError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`);
  return row.message_count;
}

export function findReply(
  connection: Connection,
  projectId: string,
  turn: { readonly session_id: string; readonly position: number },
): Message | null {
  const { session_id: sessionId, position } = turn;
  const row = connection.get<MessageRow>(turnStatements.reply, { projectId, sessionId, position });
  return row === undefined ? null : toMessage(row);
}

/** The visible reply to this very message. */
export function findReplyTo(
  connection: Connection,
  projectId: string,
  {
    session_id: sessionId,
    position,
    message_id: messageId,
  }: Pick<Turn, 'session_id' | 'position' | 'message_id'>,
): Message | null {
  const row = connection.get<MessageRow>(turnStatements.replyTo, {
    projectId,
    sessionId,
    position,
    messageId,
  });
  return row === undefined ? null : toMessage(row);
}
