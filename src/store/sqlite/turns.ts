// Turns: begun with the user's message, renewed while they run, ended with the reply. Each write reads what is stored, asks the rules of a
// turn and writes their decision, in one transaction of the writer.
import type { SessionSettings } from '../../service/session.ts';
import { givenSettings, toSettings } from '../rows.ts';
import {
  type ReplyPart,
  type Turn,
  type TurnBegin,
  type TurnEnd,
  type TurnReply,
  type TurnStart,
  turnName,
} from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import { addAlternative, hideReply, isAlternative } from './hidden-messages.ts';
import { findKnown, keepKnown, type WriteTools } from './idempotency.ts';
import { isLeaseOver, leaseEnd } from './lease-clock.ts';
import { repeatTurn } from './repeated-turns.ts';
import { addPart, removeParts } from './reply-parts.ts';
import { createSessionWithTurn } from './sessions.ts';
import {
  addMessage,
  findReplyTo,
  insertMessage,
  messageCount,
  noReply,
  type TakenRow,
  type TurnRow,
  turnRow,
  turnStatements,
} from './turn-rows.ts';
import { endAbandoned, standingTurn, takeNew } from './turn-taking.ts';

export function beginTurn(tools: WriteTools, projectId: string, start: TurnStart): TurnBegin {
  const { connection, clock } = tools;
  const known =
    start.idempotencyKey === null ? null : findKnown(tools, projectId, start.idempotencyKey, true);
  if (known === 'mismatch') return { kind: 'mismatch' };
  if (known !== null) return repeatTurn(tools, projectId, start, known);
  if (start.answersOnly) return { kind: 'over_budget' };

  const sessionId = start.session_id ?? start.newSession.session_id;
  const { message_id, content, mode, now } = start;
  const { owner, ms } = start.lease;
  let position = 0;
  let epoch = 1;
  let settings: SessionSettings;
  if (start.session_id === null) {
    settings = givenSettings(start.newSession);
    const until = leaseEnd(clock, ms);
    createSessionWithTurn(connection, projectId, { now, ...start.newSession }, { owner, until, mode });
  } else {
    const session = connection.get<TakenRow>(turnStatements.sessionToTake, { projectId, sessionId });
    if (session === undefined) return { kind: 'not_found' };
    settings = toSettings(session);
    const decision = tools.rules.turns.begin(standingTurn(tools, projectId, session), start.deadOwner);
    if (decision === 'busy') return busyWith(session);
    const isAbandoned = session.turn_owner !== null;
    if (isAbandoned) endAbandoned(connection, projectId, session, start, decision);
    // The end of an abandoned turn may have added a reply.
    position = isAbandoned ? messageCount(connection, projectId, sessionId) : session.message_count;
    epoch = session.turn_epoch + 1;
  }
  const row = insertMessage(connection, projectId, sessionId, {
    position,
    messageId: message_id,
    role: 'user',
    content,
    mode,
    now,
    ...noReply,
  });
  if (start.idempotencyKey !== null) keepKnown(tools, projectId, start.idempotencyKey, { message: row });
  const turn = { session_id: sessionId, message_id, position, content, mode, owner, epoch };
  if (start.session_id !== null) takeNew(tools, projectId, start, turn);
  return { kind: 'begun', turn, settings };
}

/** True while the turn with this epoch runs, by its lease. */
export function isTurnRunning(
  { connection, clock, failedEnds }: Omit<WriteTools, 'rules'>,
  projectId: string,
  { session_id: sessionId, epoch }: Pick<Turn, 'session_id' | 'epoch'>,
): boolean {
  const row = connection.get<TurnRow>(turnStatements.session, { projectId, sessionId });
  if (row === undefined || row.turn_owner === null || row.turn_epoch !== epoch) return false;
  return !isLeaseOver(row.turn_until, clock) && !failedEnds.has(turnName({ session_id: sessionId, epoch }));
}

/**
 * How much of the lease is left (ms). A negative number: the lease is over, and no other owner has taken the turn yet. Null: the turn is
 * lost.
 */
export function leaseLeft({ connection, clock }: Omit<WriteTools, 'rules'>, projectId: string, turn: Turn) {
  const row = connection.get<{ turn_until: number }>(turnStatements.held, bindingsOf(projectId, turn));
  return row === undefined ? null : row.turn_until - clock;
}

/** True while more than two thirds of a lease are left. It is not written then. */
export function isFresh(left: number, leaseMs: number): boolean {
  return left > (leaseMs * 2) / 3;
}

/** Extends the lease if it is not fresh, and stores the part of the reply, if any. False if the turn is lost. */
export function renewTurn(
  tools: Omit<WriteTools, 'rules'>,
  projectId: string,
  turn: Turn,
  leaseMs: number,
  part: ReplyPart | null,
): boolean {
  const { connection, clock } = tools;
  const left = leaseLeft(tools, projectId, turn);
  if (left === null) return false;
  if (part !== null) addPart(connection, projectId, turn, part);
  const until = leaseEnd(clock, leaseMs);
  if (!isFresh(left, leaseMs))
    connection.run(turnStatements.renew, { until, ...bindingsOf(projectId, turn) });
  return true;
}

export function endTurn(
  { connection, rules }: Omit<WriteTools, 'clock'>,
  projectId: string,
  turn: Turn,
  reply: TurnReply,
): TurnEnd {
  const { session_id: sessionId, owner, epoch, position } = turn;
  const row = turnRow(connection, projectId, sessionId);
  if (row === null) return { kind: 'not_found' };
  const isRunning = row.turn_owner !== null && row.turn_position === position;
  const isHeld = isRunning && row.turn_owner === owner && row.turn_epoch === epoch;
  // There is nothing after the last message.
  const standing = row.message_count > position + 1 ? findReplyTo(connection, projectId, turn) : null;
  const decision = rules.turns.end({ isHeld, isRunning, reply: standing }, reply);
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
  if (decision === 'add') {
    const add = isHeld ? insertMessage : addMessage;
    add(connection, projectId, sessionId, { role: 'assistant', ...message });
  } else if (decision === 'replace' || decision === 'alternative') {
    if (decision === 'replace') {
      hideReply(connection, projectId, turn);
      connection.run(turnStatements.replaceReply, { projectId, sessionId, ...message });
    } else {
      addAlternative(connection, projectId, turn, message);
    }
    connection.run(turnStatements.touch, { projectId, sessionId, added: 0, now: reply.now });
  }
  if (isHeld) {
    const bindings = bindingsOf(projectId, turn);
    if (decision === 'add') connection.run(turnStatements.addAndGiveBack, { now: reply.now, ...bindings });
    else connection.run(turnStatements.giveBack, bindings);
    removeParts(connection, projectId, sessionId);
  }
  // The caller may repeat a call that stored the reply as an alternative.
  if (decision === 'lost' && !isAlternative(connection, projectId, turn, reply.message_id))
    return { kind: 'lost', standing };
  return { kind: 'kept', message_count: row.message_count + (decision === 'add' ? 1 : 0) };
}

function bindingsOf(projectId: string, { session_id: sessionId, owner, epoch, position }: Turn) {
  return { projectId, sessionId, owner, epoch, position };
}
