// How a call takes the turn of a session: which turn is open, whether its owner still runs it, and the write that takes it. The write holds
// only if what was read is unchanged.
import type { IdempotencyKey, TurnStart } from '../session-store.ts';
import type { StandingTurn } from '../store-rules.ts';
import type { Ask } from './connection-pool.ts';
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
  /** True: the open turn gets an interrupted reply first. */
  readonly closes: boolean;
  /** The message whose turn begins: a new one, or the stored one at the position. */
  readonly message:
    | { readonly id: string; readonly content: string }
    | { readonly id: string; readonly position: number };
  /** A new key, which is recorded with the message. */
  readonly idempotencyKey: IdempotencyKey | null;
  /** The reply that a regeneration makes; null for the reply to a message. `key`: that of a regeneration that is tried again. */
  readonly regeneration?: { readonly replyId: string; readonly key: string | null } | null;
}

/** The first values of {@link takeTurn}: the session as it was read. */
function asRead(projectId: string, row: StandingRow): readonly unknown[] {
  return [projectId, row.id, row.turn_epoch, row.turn_owner, row.lease_until, row.message_count];
}

/** Null if the session is not as it was read any more. */
export async function take(ask: Ask, taking: Taking): Promise<TakenRow | null> {
  const { projectId, start, row, closes, message, idempotencyKey, regeneration = null } = taking;
  const isNew = 'content' in message;
  const values = [
    ...asRead(projectId, row),
    ...[start.lease.owner, start.lease.ms, start.now],
    ...(closes ? [start.closing_message_id, row.asked_mode ?? start.mode] : [null, null]),
    ...(isNew ? [message.id, null, message.content] : [null, message.position, null]),
    ...[start.mode, idempotencyKey?.key ?? null, idempotencyKey && Buffer.from(idempotencyKey.requestHash)],
    ...[row.turn_position, message.id, regeneration?.replyId ?? null, regeneration?.key ?? null],
  ];
  const [taken] = await ask<TakenRow>(takeTurn, values, takeTurnAgain);
  return taken ?? null;
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
