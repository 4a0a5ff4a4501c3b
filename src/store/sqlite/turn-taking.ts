// How a write takes the turn of a session: which turn is open, whether its owner still runs it, and what an abandoned turn leaves.
import type { Turn, TurnBegin, TurnStart } from '../session-store.ts';
import type { StandingTurn, StoreRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { addMessage, findReply, noReply, type TurnRow, turnStatements } from './turn-rows.ts';

export interface TurnTools {
  readonly connection: Connection;
  readonly rules: StoreRules;
  /** The clock of leases (lease-clock.ts). */
  readonly clock: number;
  /** The time of day in epoch milliseconds. */
  readonly now: number;
}

/** `mode`: that of a new message or reply, which becomes the session's; null for a message that is asked again. */
export function take(
  { connection, clock }: TurnTools,
  projectId: string,
  { lease }: Pick<TurnStart, 'lease'>,
  turn: Turn,
  mode: string | null,
): void {
  const { session_id: sessionId, position, owner, epoch } = turn;
  const until = leaseEnd(clock, lease.ms);
  connection.run(turnStatements.take, { projectId, sessionId, position, owner, epoch, until, mode });
}

export function standingTurn(
  { connection, clock }: TurnTools,
  projectId: string,
  row: TurnRow,
): StandingTurn | null {
  const { session_id, turn_owner: owner, turn_position: position } = row;
  if (owner === null) return null;
  return {
    owner,
    position,
    isLeaseOver: isLeaseOver(row.turn_until, clock),
    hasReply: findReply(connection, projectId, { session_id, position }) !== null,
  };
}

export function busyWith({
  session_id,
  turn_owner,
  turn_epoch,
}: TurnRow): Extract<TurnBegin, { kind: 'busy' }> {
  return { kind: 'busy', session_id, owner: turn_owner ?? '', epoch: turn_epoch };
}

/** Adds the missing reply to a turn whose owner disappeared. */
export function closeTurn(
  connection: Connection,
  projectId: string,
  session: TurnRow,
  { closing_message_id, now }: Pick<TurnStart, 'closing_message_id' | 'now'>,
): void {
  const { session_id: sessionId, turn_position: position } = session;
  const message = connection.get<{ mode: string }>(turnStatements.modeOf, { projectId, sessionId, position });
  addMessage(connection, projectId, sessionId, {
    ...noReply,
    finishReason: 'interrupted',
    position: position + 1,
    messageId: closing_message_id,
    role: 'assistant',
    content: '',
    mode: message?.mode ?? '',
    now,
  });
}
