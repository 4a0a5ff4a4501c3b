// Begins another reply to the last message of a session. No message is stored. The stored reply stays until the turn ends.
import type { SessionSettings } from '../../service/session.ts';
import { type MessageRow, toMessage, toSettings } from '../rows.ts';
import type { RegenerationStart, Turn, TurnBegin } from '../session-store.ts';
import { busyWith } from '../session-turns.ts';
import { findTurnKey, type IdempotencyTools, type KnownTurn } from './idempotency.ts';
import { isKeyTaken } from './postgres-errors.ts';
import {
  type LastTurnRow,
  lastTurn,
  type RepeatedRow,
  repeatedTurn,
  replyTo,
  type StandingRow,
} from './turn-rows.ts';
import { standingTurn, take } from './turn-taking.ts';

export async function beginRegeneration(
  tools: IdempotencyTools,
  projectId: string,
  start: RegenerationStart,
): Promise<TurnBegin> {
  for (;;) {
    const known = await findTurnKey(tools, projectId, start.idempotencyKey);
    if (known.kind === 'mismatch' || known.kind === 'answer') return { kind: 'mismatch' };
    try {
      const begin =
        known.kind === 'turn'
          ? await tryAgain(tools, projectId, start, known)
          : await beginFirst(tools, projectId, start);
      if (begin !== null) return begin;
    } catch (error) {
      // Another call has just recorded the key.
      if (!isKeyTaken(error)) throw error;
    }
  }
}

/** Null if the session has changed meanwhile. */
async function beginFirst(
  { connections: { ask }, rules }: IdempotencyTools,
  projectId: string,
  start: RegenerationStart,
): Promise<TurnBegin | null> {
  const [row] = await ask<LastTurnRow>(lastTurn, [projectId, start.session_id, start.lease.owner]);
  if (row === undefined) return { kind: 'not_found' };
  if (row.message_id === null) return { kind: 'empty' };
  const { message_id: id, position } = row;
  const decision = rules.turns.repeat({ position, reply: null }, standingTurn(row), start.deadOwner);
  if (decision === 'busy') return busyWith(row);
  if (start.answersOnly) return { kind: 'over_budget' };
  const closes = decision === 'close and take';
  const regeneration = { replyId: start.reply_id, key: null };
  const message = { id, position };
  const { idempotencyKey } = start;
  const taken = await take(ask, { projectId, start, row, closes, message, idempotencyKey, regeneration });
  return taken && begun(start, row, row, taken.turn_epoch);
}

/** The key of an earlier regeneration, of the message that was the last one then. Null if the session has changed meanwhile. */
async function tryAgain(
  { connections: { ask }, rules }: IdempotencyTools,
  projectId: string,
  start: RegenerationStart,
  known: KnownTurn,
): Promise<TurnBegin | null> {
  const { owner } = start.lease;
  const values = [projectId, known.session, owner, known.position, known.messageId];
  const [row] = await ask<RepeatedRow>(repeatedTurn, values);
  if (row === undefined) return { kind: 'not_found' };
  const { message_id: id, position, is_undone: isUndone } = row;
  const ofMessage = [projectId, known.session, position, id];
  const [own] = await ask<MessageRow>(replyTo, [...ofMessage, known.replyId, false]);
  // The regeneration of a message that was undone may have made no reply.
  const [found = null] =
    own || !isUndone ? [own] : await ask<MessageRow>(replyTo, [...ofMessage, null, true]);
  const reply = found && toMessage(found);
  const decision = rules.turns.repeat({ position, reply, isUndone }, standingTurn(row), start.deadOwner);
  if (decision === 'answered' && reply !== null) {
    return { kind: 'answered', turn: turnOf(start, row, row.turn_epoch + 1), reply };
  }
  if (decision === 'busy') return busyWith(row);
  if (start.answersOnly) return { kind: 'over_budget' };
  const closes = decision === 'close and take';
  const regeneration = { replyId: start.reply_id, key: start.idempotencyKey?.key ?? null };
  const message = { id, position };
  const taken = await take(ask, {
    projectId,
    start,
    row,
    closes,
    message,
    idempotencyKey: null,
    regeneration,
  });
  return taken && begun(start, row, row, taken.turn_epoch);
}

type Asked = Pick<Turn, 'message_id' | 'position' | 'content'>;

function begun(start: RegenerationStart, row: StandingRow, asked: Asked, epoch: number): TurnBegin {
  const settings: SessionSettings = toSettings(row);
  return { kind: 'begun', turn: turnOf(start, { ...asked, session_id: row.session_id }, epoch), settings };
}

function turnOf(
  { mode, lease: { owner } }: RegenerationStart,
  { session_id, message_id, position, content }: Asked & Pick<Turn, 'session_id'>,
  epoch: number,
): Turn {
  return { session_id, message_id, position, content, mode, owner, epoch };
}
