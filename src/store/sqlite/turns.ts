// Turns: begun with the user's message, renewed while they run, ended with the reply. A turn is held by the three turn_
// columns of its session; whenever they are empty, the session's last message is a reply.
import { ParleyError } from '../../service/errors.ts';
import type { FinishReason, Message } from '../../service/session.ts';
import type { Turn, TurnBegin, TurnReply, TurnStart } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { findKnown, keepKnown } from './idempotency.ts';
import type { MessageRow } from './rows.ts';
import { messageColumns, toMessage } from './rows.ts';
import { createSession, inProject, thisSession } from './sessions.ts';

const sessionRow = `(SELECT id FROM sessions WHERE ${thisSession})`;
const turnColumns = 'session_id, message_count, turn_owner, turn_until, turn_position';

export const turnStatements = {
  session: `SELECT ${turnColumns} FROM sessions WHERE ${thisSession} AND deleted_at IS NULL`,
  count: `SELECT message_count FROM sessions WHERE ${thisSession}`,
  keptTurn: `
    SELECT ${turnColumns}, message.message_id, message.position, message.mode, message.content
    FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
    WHERE message.id = @message AND ${inProject} AND deleted_at IS NULL`,
  reply: `
    SELECT ${messageColumns} FROM messages AS message WHERE session = ${sessionRow} AND position = @position + 1`,
  addMessage: `
    INSERT INTO messages (session, position, message_id, role, content, mode, finish_reason, input_tokens,
      output_tokens, first_token_ms, error_code, created_at)
    VALUES (${sessionRow}, @position, @messageId, @role, @content, @mode, @finishReason, @inputTokens,
      @outputTokens, @firstTokenMs, @errorCode, @now)`,
  replaceReply: `
    UPDATE messages SET message_id = @messageId, content = @content, mode = @mode,
      finish_reason = @finishReason, input_tokens = @inputTokens, output_tokens = @outputTokens,
      first_token_ms = @firstTokenMs, error_code = @errorCode, created_at = @now
    WHERE session = ${sessionRow} AND position = @position`,
  // An activity never moves a session back: the clock may have been corrected, or a late reply come after a newer turn.
  touch: `
    UPDATE sessions SET message_count = message_count + @added, updated_at = max(updated_at, @now)
    WHERE ${thisSession}`,
  take: `
    UPDATE sessions SET turn_owner = @owner, turn_until = @until, turn_position = @position WHERE ${thisSession}`,
  renew: `
    UPDATE sessions SET turn_until = @until
    WHERE ${thisSession} AND turn_owner = @owner AND turn_position = @position`,
  giveBack: `
    UPDATE sessions SET turn_owner = NULL, turn_until = NULL, turn_position = NULL
    WHERE ${thisSession} AND turn_owner = @owner AND turn_position = @position`,
  modeOf: `SELECT mode FROM messages WHERE session = ${sessionRow} AND position = @position`,
} as const;

interface TurnRow {
  readonly session_id: string;
  readonly message_count: number;
  readonly turn_owner: string | null;
  readonly turn_until: number;
  readonly turn_position: number;
}

interface KeptTurnRow extends TurnRow {
  readonly message_id: string;
  readonly position: number;
  readonly mode: string;
  readonly content: string;
}

interface NewMessage {
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

const noReply = {
  finishReason: null,
  inputTokens: null,
  outputTokens: null,
  firstTokenMs: null,
  errorCode: null,
} as const;

export function beginTurn(
  connection: Connection,
  projectId: string,
  start: TurnStart,
  now: number,
): TurnBegin {
  const known = start.once === null ? null : findKnown(connection, projectId, start.once);
  if (known === 'mismatch') return { kind: 'mismatch' };
  if (known !== null) return repeatTurn(connection, projectId, start, known.message);

  const sessionId = start.session_id ?? start.newSession.session_id;
  if (start.session_id === null) {
    createSession(connection, projectId, { ...start.newSession, now: start.now });
  } else {
    const session = connection.get<TurnRow>(turnStatements.session, { projectId, sessionId });
    if (session === undefined) return { kind: 'not_found' };
    const busy = runningTurn(session, start);
    if (busy !== null) return busy;
    closeTurn(connection, projectId, session, start);
  }
  const position = messageCount(connection, projectId, sessionId);
  const { message_id, content, mode, lease } = start;
  const row = addMessage(connection, projectId, sessionId, {
    ...noReply,
    position,
    messageId: message_id,
    role: 'user',
    content,
    mode,
    now: start.now,
  });
  connection.run(turnStatements.take, { projectId, sessionId, position, ...lease });
  if (start.once !== null) keepKnown(connection, projectId, start.once, { message: row, answer: null, now });
  return {
    kind: 'begun',
    turn: { session_id: sessionId, message_id, position, content, mode, owner: lease.owner },
  };
}

/** A key that is known: its own turn, wherever in the session that is, and never another message. */
function repeatTurn(
  connection: Connection,
  projectId: string,
  start: TurnStart,
  message: number | null,
): TurnBegin {
  if (message === null) return { kind: 'mismatch' };
  const kept = connection.get<KeptTurnRow>(turnStatements.keptTurn, { projectId, message });
  if (kept === undefined) return { kind: 'not_found' };
  const { session_id, message_id, position, content, mode } = kept;
  const { owner, until } = start.lease;
  const turn = { session_id, message_id, position, content, mode, owner };
  const reply = findReply(connection, projectId, turn);
  if (reply !== null && !isCut(reply)) return { kind: 'answered', turn, reply };
  const busy = runningTurn(kept, start);
  if (busy !== null) return busy;
  if (kept.turn_position !== position) closeTurn(connection, projectId, kept, start);
  connection.run(turnStatements.take, { projectId, sessionId: session_id, position, owner, until });
  return { kind: 'begun', turn };
}

/** Null when there is none, or when its owner is gone. An equal owner may still run it: one process can hold two chats. */
function runningTurn(session: TurnRow, start: TurnStart): TurnBegin | null {
  const { turn_owner: owner, turn_until: until } = session;
  if (owner === null || owner === start.gone || until <= start.now) return null;
  return { kind: 'busy', owner, until };
}

/** Gives a turn whose owner went without ending it the reply that it lacks. */
function closeTurn(connection: Connection, projectId: string, session: TurnRow, start: TurnStart): void {
  if (session.turn_owner === null) return;
  const { session_id: sessionId, turn_position: position } = session;
  if (findReply(connection, projectId, { session_id: sessionId, position }) !== null) return;
  const message = connection.get<{ mode: string }>(turnStatements.modeOf, { projectId, sessionId, position });
  addMessage(connection, projectId, sessionId, {
    ...noReply,
    finishReason: 'interrupted',
    position: position + 1,
    messageId: start.closing_message_id,
    role: 'assistant',
    content: '',
    mode: message?.mode ?? start.mode,
    now: start.now,
  });
}

export function renewTurn(connection: Connection, projectId: string, turn: Turn, until: number): void {
  const { session_id: sessionId, owner, position } = turn;
  connection.run(turnStatements.renew, { projectId, sessionId, owner, position, until });
}

export function endTurn(
  connection: Connection,
  projectId: string,
  turn: Turn,
  reply: TurnReply,
): { readonly message_count: number } {
  const { session_id: sessionId, owner, position } = turn;
  const message = {
    position: position + 1,
    messageId: reply.message_id,
    content: reply.content,
    now: reply.now,
    finishReason: reply.finish_reason,
    inputTokens: reply.usage?.input_tokens ?? null,
    outputTokens: reply.usage?.output_tokens ?? null,
    mode: reply.mode,
    firstTokenMs: reply.first_token_ms,
    errorCode: reply.error_code,
  };
  const standing = findReply(connection, projectId, turn);
  if (standing === null) {
    messageCount(connection, projectId, sessionId); // is the session there at all?
    addMessage(connection, projectId, sessionId, { ...message, role: 'assistant' });
  } else if (isCut(standing)) {
    connection.run(turnStatements.replaceReply, { projectId, sessionId, ...message });
    connection.run(turnStatements.touch, { projectId, sessionId, added: 0, now: reply.now });
  }
  connection.run(turnStatements.giveBack, { projectId, sessionId, owner, position });
  return { message_count: messageCount(connection, projectId, sessionId) };
}

function addMessage(
  connection: Connection,
  projectId: string,
  sessionId: string,
  message: NewMessage,
): number {
  const { rowId } = connection.run(turnStatements.addMessage, { projectId, sessionId, ...message });
  connection.run(turnStatements.touch, { projectId, sessionId, added: 1, now: message.now });
  return rowId;
}

function findReply(
  connection: Connection,
  projectId: string,
  turn: { readonly session_id: string; readonly position: number },
): Message | null {
  const { session_id: sessionId, position } = turn;
  const row = connection.get<MessageRow>(turnStatements.reply, { projectId, sessionId, position });
  return row === undefined ? null : toMessage(row);
}

function isCut(reply: Message): boolean {
  return reply.finish_reason === 'interrupted' || reply.finish_reason === 'error';
}

/** Also the position of the next message. */
function messageCount(connection: Connection, projectId: string, sessionId: string): number {
  const row = connection.get<{ message_count: number }>(turnStatements.count, { projectId, sessionId });
  if (row === undefined) throw new ParleyError('SESSION_NOT_FOUND', `There is no session ${sessionId}.`);
  return row.message_count;
}
