// Begins another reply to the last message of a session. No message is stored. The stored reply stays until the turn ends.
import { type MessageRow, toMessage } from '../rows.ts';
import type { RegenerationStart, TurnBegin } from '../session-store.ts';
import { findTurnKey, type IdempotencyTools, type KnownTurn } from './idempotency.ts';
import { isKeyTaken } from './postgres-errors.ts';
import { type LastTurnRow, lastTurn, type RepeatedRow, repeatedTurn, replyTo } from './turn-rows.ts';
import { takeAgain } from './turn-taking.ts';

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
  tools: IdempotencyTools,
  projectId: string,
  start: RegenerationStart,
): Promise<TurnBegin | null> {
  const values = [projectId, start.session_id, start.lease.owner];
  const [row] = await tools.connections.ask<LastTurnRow>(lastTurn, values);
  if (row === undefined) return { kind: 'not_found' };
  if (row.message_id === null) return { kind: 'empty' };
  const { mode, idempotencyKey } = start;
  const regeneration = { replyId: start.reply_id, key: null };
  return takeAgain(tools, projectId, start, { row, reply: null, mode, idempotencyKey, regeneration });
}

/** The key of an earlier regeneration, of the message that was the last one then. Null if the session has changed meanwhile. */
async function tryAgain(
  tools: IdempotencyTools,
  projectId: string,
  start: RegenerationStart,
  known: KnownTurn,
): Promise<TurnBegin | null> {
  const { ask } = tools.connections;
  const values = [projectId, known.session, start.lease.owner, known.position, known.messageId];
  const [row] = await ask<RepeatedRow>(repeatedTurn, values);
  if (row === undefined) return { kind: 'not_found' };
  const ofMessage = [projectId, known.session, row.position, row.message_id];
  const [own] = await ask<MessageRow>(replyTo, [...ofMessage, known.replyId, false]);
  // The regeneration of a message that was undone may have made no reply.
  const [found = null] =
    own || !row.is_undone ? [own] : await ask<MessageRow>(replyTo, [...ofMessage, null, true]);
  const reply = found && toMessage(found);
  const regeneration = { replyId: start.reply_id, key: start.idempotencyKey?.key ?? null };
  return takeAgain(tools, projectId, start, { row, reply, mode: start.mode, regeneration });
}
