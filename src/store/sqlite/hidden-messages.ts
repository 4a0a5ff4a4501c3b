// The messages outside the visible line of a session: alternatives of replies, and undone turns. Here they are hidden, shown and found;
// turns.ts and turn-moves.ts decide when. An undone turn is two rows with one `undone_at`, which no other turn of the session has.
import type { Message } from '../../service/session.ts';
import { hiddenColumns, type MessageRow, messageColumns, toMessage } from '../rows.ts';
import type { Turn } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { type NewMessage, sessionRow } from './turn-rows.ts';

/** All columns that both tables of messages have. */
export const movedColumns = `session, position, message_id, role, mode, finish_reason, input_tokens, output_tokens, first_token_ms,
  error_code, copied, created_at, content`;
/** The columns of a visible message that the statement calls `message`, and those that only a hidden one fills. */
export const visibleColumns = `${messageColumns}, NULL AS alternative_of, NULL AS undone_at`;
const ofTurn = `session = ${sessionRow} AND position IN (@position, @position + 1) AND undone_at = @undoneAt`;
const ofReplies = `session = ${sessionRow} AND position = @position + 1`;

export const hiddenStatements = {
  hideReply: `
    INSERT INTO hidden_messages (${movedColumns}, alternative_of)
    SELECT ${movedColumns}, @messageId FROM messages WHERE ${ofReplies}`,
  addAlternative: `
    INSERT INTO hidden_messages (session, position, message_id, alternative_of, role, content, mode, finish_reason,
      input_tokens, output_tokens, first_token_ms, error_code, created_at)
    VALUES (${sessionRow}, @position, @messageId, @alternativeOf, 'assistant', @content, @mode, @finishReason,
      @inputTokens, @outputTokens, @firstTokenMs, @errorCode, @now)
    ON CONFLICT (session, position, message_id) DO NOTHING`,
  isAlternative: `
    SELECT 1 FROM hidden_messages WHERE ${ofReplies} AND message_id = @replyId AND alternative_of = @messageId`,
  firstWhole: `
    SELECT ${hiddenColumns} FROM hidden_messages AS message
    WHERE ${ofReplies} AND alternative_of = @messageId AND finish_reason IN ('stop', 'length')
    ORDER BY message_id LIMIT 1`,
  // A message has one id in one of the two tables.
  reply: `
    SELECT ${visibleColumns} FROM messages AS message
    WHERE ${ofReplies} AND message_id = @replyId
    UNION ALL SELECT ${hiddenColumns} FROM hidden_messages AS message WHERE ${ofReplies} AND message_id = @replyId`,
  hide: `
    INSERT INTO hidden_messages (${movedColumns}, undone_at)
    SELECT ${movedColumns}, @undoneAt FROM messages WHERE session = ${sessionRow} AND position = @position`,
  moveKeysOut: `
    UPDATE idempotency SET message = NULL, hidden_message = @hidden
    WHERE message = (SELECT id FROM messages WHERE session = ${sessionRow} AND position = @position)`,
  remove: `DELETE FROM messages WHERE session = ${sessionRow} AND position >= @position`,
  undone: `
    SELECT id, position, undone_at AS undoneAt FROM hidden_messages
    WHERE session = ${sessionRow} AND undone_at IS NOT NULL ORDER BY undone_at DESC, position LIMIT 1`,
  show: `
    INSERT INTO messages (${movedColumns})
    SELECT ${movedColumns} FROM hidden_messages
    WHERE session = ${sessionRow} AND position = @position AND undone_at = @undoneAt`,
  moveKeysBack:
    'UPDATE idempotency SET message = @message, hidden_message = NULL WHERE hidden_message = @hidden',
  removeHidden: `DELETE FROM hidden_messages WHERE ${ofTurn}`,
  undoneReply: `
    SELECT ${hiddenColumns} FROM hidden_messages AS message WHERE ${ofReplies} AND undone_at = @undoneAt`,
} as const;

type AnsweredTurn = Pick<Turn, 'session_id' | 'position' | 'message_id'>;

/** Makes the visible reply of a turn an alternative. The caller puts another reply in its place. */
export function hideReply(connection: Connection, projectId: string, turn: AnsweredTurn): void {
  connection.run(hiddenStatements.hideReply, bindingsOf(projectId, turn));
}

/** Stores a reply as an alternative. Does nothing if it is stored already. */
export function addAlternative(
  connection: Connection,
  projectId: string,
  { session_id: sessionId, message_id: alternativeOf }: AnsweredTurn,
  reply: Omit<NewMessage, 'role'>,
): void {
  connection.run(hiddenStatements.addAlternative, { projectId, sessionId, alternativeOf, ...reply });
}

export function isAlternative(
  connection: Connection,
  projectId: string,
  turn: AnsweredTurn,
  replyId: string,
): boolean {
  const bindings = { replyId, ...bindingsOf(projectId, turn) };
  return connection.get(hiddenStatements.isAlternative, bindings) !== undefined;
}

/** The first whole alternative of a turn's reply: the one with the smallest id, because ids grow with time. */
export function firstWholeAlternative(
  connection: Connection,
  projectId: string,
  turn: AnsweredTurn,
): Message | null {
  return messageOrNull(connection.get(hiddenStatements.firstWhole, bindingsOf(projectId, turn)));
}

/** A reply of a turn by its id, visible or hidden. */
export function findReplyById(
  connection: Connection,
  projectId: string,
  turn: AnsweredTurn,
  replyId: string,
): Message | null {
  return messageOrNull(connection.get(hiddenStatements.reply, { replyId, ...bindingsOf(projectId, turn) }));
}

/** The reply that was undone with its message. */
export function findUndoneReply(
  connection: Connection,
  projectId: string,
  { session_id: sessionId, position }: AnsweredTurn,
  undoneAt: number,
): Message | null {
  return messageOrNull(
    connection.get(hiddenStatements.undoneReply, { projectId, sessionId, position, undoneAt }),
  );
}

interface UndoneRow {
  readonly id: number;
  readonly position: number;
  readonly undoneAt: number;
}

/** The place of a turn in its session. */
interface TurnPlace {
  readonly projectId: string;
  readonly sessionId: string;
  /** The position of the user's message. */
  readonly position: number;
}

/** Hides the last turn of the visible line, which must have a reply. The caller counts the messages of the session. */
export function hideTurn(connection: Connection, turn: TurnPlace, undoneAt: number): void {
  const { rowId: hidden } = connection.run(hiddenStatements.hide, { ...turn, undoneAt });
  connection.run(hiddenStatements.hide, { ...turn, position: turn.position + 1, undoneAt });
  connection.run(hiddenStatements.moveKeysOut, { ...turn, hidden });
  connection.run(hiddenStatements.remove, { ...turn });
}

/**
 * Shows the turn that was undone last if its place is this one. Otherwise it returns false: an older server, which knows no undo, has put
 * another message there. The caller counts the messages of the session.
 */
export function showTurn(connection: Connection, turn: TurnPlace): boolean {
  const { projectId, sessionId, position } = turn;
  const found = connection.get<UndoneRow>(hiddenStatements.undone, { projectId, sessionId });
  if (found?.position !== position) return false;
  const { id: hidden, undoneAt } = found;
  const { rowId: message } = connection.run(hiddenStatements.show, { ...turn, undoneAt });
  connection.run(hiddenStatements.show, { ...turn, position: turn.position + 1, undoneAt });
  connection.run(hiddenStatements.moveKeysBack, { message, hidden });
  connection.run(hiddenStatements.removeHidden, { ...turn, undoneAt });
  return true;
}

function bindingsOf(
  projectId: string,
  { session_id: sessionId, position, message_id: messageId }: AnsweredTurn,
) {
  return { projectId, sessionId, position, messageId };
}

function messageOrNull(row: MessageRow | undefined): Message | null {
  return row === undefined ? null : toMessage(row);
}
