// How a write takes the turn of a session: which turn is open, whether its owner still runs it, and what an abandoned turn leaves.
import { type Turn, type TurnStart, turnName } from '../session-store.ts';
import type { StandingTurn } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { addAlternative } from './hidden-messages.ts';
import type { WriteTools } from './idempotency.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { type StoredBeginning, takeParts } from './reply-parts.ts';
import {
  addMessage,
  findReply,
  type NewMessage,
  noReply,
  type TurnRow,
  turnStatements,
} from './turn-rows.ts';

/**
 * Takes the turn of a stored message. `mode`: that of a new message or reply, which becomes the session's; null for a message that is asked
 * again.
 */
export function take(
  tools: WriteTools,
  projectId: string,
  start: Pick<TurnStart, 'lease'>,
  turn: Turn,
  mode: string | null,
): void {
  tools.connection.run(turnStatements.take, { mode, ...takenBindings(tools, projectId, start, turn) });
}

/** Takes the turn of a message that was just inserted, and counts the message. */
export function takeNew(
  tools: WriteTools,
  projectId: string,
  start: Pick<TurnStart, 'lease' | 'now'>,
  turn: Turn,
): void {
  const bindings = takenBindings(tools, projectId, start, turn);
  tools.connection.run(turnStatements.addAndTake, { mode: turn.mode, now: start.now, ...bindings });
}

function takenBindings(
  { clock }: Pick<WriteTools, 'clock'>,
  projectId: string,
  { lease }: Pick<TurnStart, 'lease'>,
  { session_id: sessionId, position, owner, epoch }: Turn,
) {
  return { projectId, sessionId, position, owner, epoch, until: leaseEnd(clock, lease.ms) };
}

export function standingTurn(
  { connection, clock, failedEnds }: WriteTools,
  projectId: string,
  row: TurnRow,
): StandingTurn | null {
  const { session_id, turn_owner: owner, turn_position: position, turn_epoch: epoch } = row;
  if (owner === null) return null;
  return {
    owner,
    position,
    isLeaseOver: isLeaseOver(row.turn_until, clock) || failedEnds.has(turnName({ session_id, epoch })),
    hasReply: findReply(connection, projectId, { session_id, position }) !== null,
  };
}

/**
 * Ends the turn that stands open in a session, if any, because its owner disappeared: a missing reply is added, with what is stored of its
 * text. If there is a reply, or if the message is asked again, that text becomes an alternative.
 */
export function endAbandoned(
  connection: Connection,
  projectId: string,
  session: TurnRow,
  { closing_message_id, now }: Pick<TurnStart, 'closing_message_id' | 'now'>,
  decision: 'take' | 'close and take',
): void {
  if (session.turn_owner === null) return;
  const beginning = takeParts(connection, projectId, session);
  if (decision === 'close and take') {
    const { session_id: sessionId, turn_position: position } = session;
    const asked = connection.get<AskedRow>(turnStatements.asked, { projectId, sessionId, position });
    addMessage(connection, projectId, sessionId, {
      role: 'assistant',
      ...interruptedReply(session, beginning ?? emptyReply(closing_message_id, asked?.mode ?? '', now)),
    });
  } else if (beginning !== null) {
    keepAsAlternative(connection, projectId, session, beginning);
  }
}

/** Keeps the stored text of a turn's reply beside the reply that stands. */
export function keepAsAlternative(
  connection: Connection,
  projectId: string,
  session: TurnRow,
  beginning: StoredBeginning,
): void {
  const { session_id, turn_position: position } = session;
  const place = { projectId, sessionId: session_id, position };
  const asked = connection.get<AskedRow>(turnStatements.asked, place);
  if (asked === undefined) return;
  const turn = { session_id, position, message_id: asked.message_id };
  addAlternative(connection, projectId, turn, interruptedReply(session, beginning));
}

export function interruptedReply(
  { turn_position }: TurnRow,
  { message_id: messageId, mode, created_at: now, content }: StoredBeginning,
): Omit<NewMessage, 'role'> {
  const position = turn_position + 1;
  return { ...noReply, finishReason: 'interrupted', position, messageId, content, mode, now };
}

function emptyReply(message_id: string, mode: string, created_at: number): StoredBeginning {
  return { message_id, mode, created_at, content: '' };
}

interface AskedRow {
  readonly message_id: string;
  readonly mode: string;
}
