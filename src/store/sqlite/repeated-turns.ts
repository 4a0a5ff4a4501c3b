// Turns of a message that is stored already: a chat whose idempotency key came again, and another reply to the last message. Each takes the
// turn of its message; no other message is changed.
import type { Message } from '../../service/session.ts';
import { toSettings } from '../rows.ts';
import type { RegenerationStart, TurnBegin, TurnStart } from '../session-store.ts';
import { findReplyById, findUndoneReply, firstWholeAlternative } from './hidden-messages.ts';
import { findKnown, idempotencyStatements, type Known, keepKnown } from './idempotency.ts';
import { findReplyTo, type StoredTurnRow, turnStatements } from './turn-rows.ts';
import { busyWith, closeTurn, standingTurn, type TurnTools, take } from './turn-taking.ts';

type AgainStart = Pick<TurnStart, 'lease' | 'deadOwner' | 'closing_message_id' | 'now' | 'answersOnly'>;

/** Repeats a chat whose key is known. Its message may be at any position of the session, or may have been undone. */
export function repeatTurn(tools: TurnTools, projectId: string, start: AgainStart, known: Known): TurnBegin {
  const { connection } = tools;
  const kept = keptTurn(tools, projectId, known);
  if (kept === undefined) return { kind: 'not_found' };
  const own = standingReply(tools, projectId, kept);
  const made = firstWholeAlternative(connection, projectId, kept);
  return takeAgain(tools, projectId, start, { kept, reply: made ?? own, mode: null });
}

/** Takes the turn of the last message for another reply. */
export function beginRegeneration(tools: TurnTools, projectId: string, start: RegenerationStart): TurnBegin {
  const { connection } = tools;
  const { idempotencyKey, reply_id: replyId, session_id: sessionId, mode } = start;
  const known = idempotencyKey === null ? null : findKnown(tools, projectId, idempotencyKey, true);
  if (known === 'mismatch') return { kind: 'mismatch' };
  if (known !== null) {
    const kept = keptTurn(tools, projectId, known);
    if (kept === undefined) return { kind: 'not_found' };
    const made = findReplyById(connection, projectId, kept, known.reply_id ?? '');
    const reply = made ?? (kept.undone_at === null ? null : standingReply(tools, projectId, kept));
    const begin = takeAgain(tools, projectId, start, { kept, reply, mode });
    if (begin.kind === 'begun')
      connection.run(idempotencyStatements.tryAgain, { projectId, key: idempotencyKey?.key ?? '', replyId });
    return begin;
  }
  const kept = connection.get<StoredTurnRow>(turnStatements.lastTurn, { projectId, sessionId });
  if (kept === undefined) {
    const session = connection.get(turnStatements.session, { projectId, sessionId });
    return { kind: session === undefined ? 'not_found' : 'empty' };
  }
  const begin = takeAgain(tools, projectId, start, { kept, reply: null, mode });
  if (begin.kind === 'begun' && idempotencyKey !== null)
    keepKnown(tools, projectId, idempotencyKey, { message: kept.row, replyId });
  return begin;
}

function keptTurn({ connection }: TurnTools, projectId: string, { message, hidden_message: hidden }: Known) {
  return hidden === null
    ? connection.get<StoredTurnRow>(turnStatements.keptTurn, { projectId, message })
    : connection.get<StoredTurnRow>(turnStatements.undoneTurn, { projectId, hidden });
}

/** The visible reply to the message, or the reply that was undone with it. */
function standingReply({ connection }: TurnTools, projectId: string, kept: StoredTurnRow): Message | null {
  return kept.undone_at === null
    ? findReplyTo(connection, projectId, kept)
    : findUndoneReply(connection, projectId, kept, kept.undone_at);
}

interface StoredTurn {
  readonly kept: StoredTurnRow;
  readonly reply: Message | null;
  /** The mode of the new reply; null for the mode of the message. */
  readonly mode: string | null;
}

function takeAgain(
  tools: TurnTools,
  projectId: string,
  start: AgainStart,
  { kept, reply, mode }: StoredTurn,
): TurnBegin {
  const { session_id, message_id, position, content } = kept;
  const turn = {
    ...{ session_id, message_id, position, content, mode: mode ?? kept.mode },
    ...{ owner: start.lease.owner, epoch: kept.turn_epoch + 1 },
  };
  const decision = tools.rules.turns.repeat(
    { position, reply, isUndone: kept.undone_at !== null },
    standingTurn(tools, projectId, kept),
    start.deadOwner,
  );
  if (decision === 'answered')
    return reply === null ? { kind: 'not_found' } : { kind: 'answered', turn, reply };
  if (decision === 'busy') return busyWith(kept);
  if (start.answersOnly) return { kind: 'over_budget' };
  if (decision === 'close and take') closeTurn(tools.connection, projectId, kept, start);
  take(tools, projectId, start, turn, mode);
  return { kind: 'begun', turn, settings: toSettings(kept) };
}
