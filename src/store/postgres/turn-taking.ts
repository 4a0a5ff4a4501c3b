// How a call takes the turn of a session: which turn is open, whether its owner still runs it, and the write that takes it. The write holds
// only if what was read is unchanged.
import type { Message } from '../../service/session.ts';
import { toSettings } from '../rows.ts';
import type { IdempotencyKey, Turn, TurnBegin, TurnStart } from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import type { StandingTurn } from '../store-rules.ts';
import type { Ask } from './connection-pool.ts';
import type { IdempotencyTools } from './idempotency.ts';
import { type StandingRow, takeTurn, takeTurnAgain } from './turn-rows.ts';

export interface TakenRow {
  readonly turn_position: number;
  readonly turn_epoch: number;
}

interface Taking {
  readonly projectId: string;
  readonly start: Pick<TurnStart, 'lease' | 'now' | 'mode' | 'closing_message_id'>;
  /** What was read of the session. */
  readonly row: StandingRow;
  /** `close and take`: the open turn gets an interrupted reply first. */
  readonly decision: 'take' | 'close and take';
  /** The message whose turn begins: a new one, or the stored one at the position. */
  readonly message:
    | { readonly id: string; readonly content: string }
    | { readonly id: string; readonly position: number };
  /** A new key, which is recorded with the message; null for none. */
  readonly idempotencyKey?: IdempotencyKey | null;
  /** The reply that a regeneration makes; null for the reply to a message. `key`: that of a regeneration that is tried again. */
  readonly regeneration?: { readonly replyId: string; readonly key: string | null } | null;
}

/** The first values of {@link takeTurn}: the session as it was read. */
function asRead(projectId: string, row: StandingRow): readonly unknown[] {
  return [projectId, row.id, row.turn_epoch, row.turn_owner, row.lease_until, row.message_count];
}

/** Null if the session is not as it was read any more. */
export async function take(ask: Ask, taking: Taking): Promise<TakenRow | null> {
  const { projectId, start, row, decision, message, idempotencyKey = null, regeneration = null } = taking;
  const isNew = 'content' in message;
  const values = [
    ...asRead(projectId, row),
    ...[start.lease.owner, start.lease.ms, start.now],
    ...(decision === 'close and take'
      ? [start.closing_message_id, row.asked_mode ?? start.mode]
      : [null, null]),
    ...(isNew ? [message.id, null, message.content] : [null, message.position, null]),
    ...[start.mode, idempotencyKey?.key ?? null, idempotencyKey && Buffer.from(idempotencyKey.requestHash)],
    ...[row.turn_position, message.id, regeneration?.replyId ?? null, regeneration?.key ?? null],
  ];
  const [taken] = await ask<TakenRow>(takeTurn, values, takeTurnAgain);
  return taken ?? null;
}

interface Again extends Pick<Taking, 'idempotencyKey' | 'regeneration'> {
  /** The session and the stored message. */
  readonly row: StandingRow &
    Pick<Turn, 'message_id' | 'position' | 'content'> & { readonly is_undone?: boolean };
  /** The reply that answers the call if it is whole. */
  readonly reply: Message | null;
  /** The mode of the new reply. */
  readonly mode: string;
}

/** Takes the turn of a stored message, if the rules allow it. Null if the session is not as it was read any more. */
export async function takeAgain(
  { connections: { ask }, rules }: IdempotencyTools,
  projectId: string,
  start: Taking['start'] & Pick<TurnStart, 'deadOwner' | 'answersOnly'>,
  { row, reply, mode, ...recorded }: Again,
): Promise<TurnBegin | null> {
  const { session_id, message_id, position, content, is_undone: isUndone = false } = row;
  const turnAt = (epoch: number): Turn => {
    const { owner } = start.lease;
    return { session_id, message_id, position, content, mode, owner, epoch };
  };
  const decision = rules.turns.repeat({ position, reply, isUndone }, standingTurn(row), start.deadOwner);
  if (decision === 'answered')
    return reply === null
      ? { kind: 'not_found' }
      : { kind: 'answered', turn: turnAt(row.turn_epoch + 1), reply };
  if (decision === 'busy') return busyWith(row);
  if (start.answersOnly) return { kind: 'over_budget' };
  const message = { id: message_id, position };
  const taken = await take(ask, { projectId, start, row, decision, message, ...recorded });
  return taken && { kind: 'begun', turn: turnAt(taken.turn_epoch), settings: toSettings(row) };
}

/** Closes the open turn, whose owner has gone: it gets an interrupted reply, unless it has a reply. */
export async function closeTurn(
  ask: Ask,
  projectId: string,
  row: StandingRow,
  { now, closing_message_id }: Pick<TurnStart, 'now' | 'closing_message_id'>,
): Promise<void> {
  const closing = row.has_reply ? [null, null] : [closing_message_id, row.asked_mode ?? ''];
  const values = [
    ...asRead(projectId, row),
    ...[null, null, now], // No owner and no lease.
    ...closing,
    ...[null, null, null, null, null, null], // No message, mode and key.
    ...[row.turn_position, null, null, null],
  ];
  await ask(takeTurn, values);
}

export function standingTurn(row: StandingRow): StandingTurn | null {
  if (row.turn_owner === null || row.turn_position === null) return null;
  const { turn_owner: owner, turn_position: position, has_reply: hasReply } = row;
  return { owner, position, isLeaseOver: row.is_lease_over ?? true, hasReply };
}
