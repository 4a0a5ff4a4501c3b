// Turns of a message that is stored already: a chat whose idempotency key came again, and another reply to the last message. Each takes the
// turn of its message; no other message is changed.
import type { Message } from '../../service/session.ts';
import { toSettings } from '../rows.ts';
import type { RegenerationStart, TurnBegin, TurnStart } from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import { findReplyById, findUndoneReply, firstWholeAlternative } from './hidden-messages.ts';
import { findKnown, idempotencyStatements, type Known, keepKnown, type WriteTools } from './idempotency.ts';
import { findReplyTo, type StoredTurnRow, turnStatements } from './turn-rows.ts';
import { endAbandoned, standingTurn, take } from './turn-taking.ts';

type AgainStart = Pick<TurnStart, 'lease' | 'deadOwner' | 'closing_message_id' | 'now' | 'answersOnly'>;

/** Repeats a chat whose key is known. Its message may be at any position of the session, or may have been undone. */
export function repeatTurn(tools: WriteTools, projectId: string, start: AgainStart, known: Known): TurnBegin {
  const { connection } = tools;
  const stored = keptTurn(tools, projectId, known);
  if (stored === undefined) return { kind: 'not_found' };
  const own = standingReply(tools, projectId, stored);
  const made = firstWholeAlternative(connection, projectId, stored);
  return takeAgain(tools, projectId, start, { stored, reply: made ?? own, mode: null });
}

/** Takes the turn of the last message for another reply. */
export function beginRegeneration(tools: WriteTools, projectId: string, start: RegenerationStart): TurnBegin {
  const { connection } = tools;
  const { idempotencyKey, reply_id: replyId, session_id: sessionId, mode } = start;
  const known = idempotencyKey === null ? null : findKnown(tools, projectId, idempotencyKey, true);
  if (known === 'mismatch') return { kind: 'mismatch' };
  if (known !== null) {
    const stored = keptTurn(tools, projectId, known);
    if (stored === undefined) return { kind: 'not_found' };
    const made = findReplyById(connection, projectId, stored, known.reply_id ?? '');
    const reply = made ?? (stored.undone_at === null ? null : standingReply(tools, projectId, stored));
    const begin = takeAgain(tools, projectId, start, { stored, reply, mode });
    if (begin.kind === 'begun')
      connection.run(idempotencyStatements.tryAgain, { projectId, key: idempotencyKey?.key ?? '', replyId });
    return begin;
  }
  const stored = connection.get<StoredTurnRow>(turnStatements.lastTurn, { projectId, sessionId });
  if (stored === undefined) {
    const session = connection.get(turnStatements.session, { projectId, sessionId });
    return { kind: session === undefined ? 'not_found' : 'empty' };
  }
  const begin = takeAgain(tools, projectId, start, { stored, reply: null, mode });
  if (begin.kind === 'begun' && idempotencyKey !== null)
    keepKnown(tools, projectId, idempotencyKey, { message: stored.row, replyId });
  return begin;
}

function keptTurn({ connection }: WriteTools, projectId: string, { message, hidden_message: hidden }: Known) {
  return hidden === null
    ? connection.get<StoredTurnRow>(turnStatements.keptTurn, { projectId, message })
    : connection.get<StoredTurnRow>(turnStatements.undoneTurn, { projectId, hidden });
}

/** The visible reply to the message, or the reply that was undone with it. */
function standingReply({ connection }: WriteTools, projectId: string, stored: StoredTurnRow): Message | null {
  return stored.undone_at === null
    ? findReplyTo(connection, projectId, stored)
    : findUndoneReply(connection, projectId, stored, stored.undone_at);
}

interface StoredTurn {
  readonly stored: StoredTurnRow;
  readonly reply: Message | null;
  /** The mode of the new reply; null for the mode of the message. */
  readonly mode: string | null;
}

function takeAgain(
  tools: WriteTools,
  projectId: string,
  start: AgainStart,
  { stored, reply, mode }: StoredTurn,
): TurnBegin {
  const { session_id, message_id, position, content } = stored;
  const turn = {
    session_id,
    message_id,
    position,
    content,
    mode: mode ?? stored.mode,
    owner: start.lease.owner,
    epoch: stored.turn_epoch + 1,
  };
  const decision = tools.rules.turns.repeat(
    { position, reply, isUndone: stored.undone_at !== null },
    standingTurn(tools, projectId, stored),
    start.deadOwner,
  );
  if (decision === 'answered')
    return reply === null ? { kind: 'not_found' } : { kind: 'answered', turn, reply };
  if (decision === 'busy') return busyWith(stored);
  if (start.answersOnly) return { kind: 'over_budget' };
  endAbandoned(tools.connection, projectId, stored, start, decision);
  take(tools, projectId, start, turn, mode);
  return { kind: 'begun', turn, settings: toSettings(stored) };
}
