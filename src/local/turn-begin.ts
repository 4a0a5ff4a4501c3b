// Begins the turn of a chat: takes the turn of its session and stores the message.
import type { Call } from '../service/call.ts';
import type { ChatRequestInMode } from '../service/chat-event.ts';
import { ParleyError } from '../service/errors.ts';
import type { TurnBegin, TurnStart } from '../store/session-store.ts';
import type { Access } from './key-check.ts';
import type { LocalOptions } from './local-options.ts';
import { titleOf } from './text-rules.ts';
import { OverBudget } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';
import { askWhenFree } from './turn-wait.ts';

export type BegunTurn = Extract<TurnBegin, { turn: unknown }>;

interface ChatTurnStart extends Pick<TurnStart, 'idempotencyKey'> {
  readonly access: Access;
  readonly request: ChatRequestInMode;
  readonly answersOnly: boolean;
}

/** Throws `SESSION_BUSY` when the wait is over; nothing is stored then. */
export async function beginWhenFree(
  local: LocalOptions,
  queue: TurnQueue,
  call: Call,
  { access: { projectId, keyHash }, request, idempotencyKey, answersOnly }: ChatTurnStart,
): Promise<BegunTurn> {
  // No other call can wait for a new session.
  const name = request.session_id ?? (idempotencyKey === null ? null : `key ${idempotencyKey.key}`);
  const begin = await askWhenFree(local, queue, { projectId, name }, call, (deadOwner) => {
    const now = local.now();
    const start = {
      session_id: request.session_id,
      newSession: {
        session_id: local.ids.next('ses', now),
        title: request.title ?? titleOf(request.message),
        system: request.system ?? null,
        parameters: request.parameters ?? {},
        user: request.user ?? null,
      },
      message_id: local.ids.next('msg', now),
      closing_message_id: local.ids.next('msg', now),
      content: request.message,
      mode: request.mode,
      now,
      lease: { owner: local.owner.id, ms: local.limits.turnLeaseMs },
      deadOwner,
      idempotencyKey,
      keyHash,
      answersOnly,
    };
    return local.store.beginTurn(projectId, start, call.signal);
  });
  return requireTurn(begin);
}

/** Throws `INVALID_REQUEST` for a session without a message, and {@link OverBudget}. */
export function requireTurn(
  begin: BegunTurn | { readonly kind: 'empty' } | { readonly kind: 'over_budget' },
): BegunTurn {
  if (begin.kind === 'over_budget') throw new OverBudget();
  if (begin.kind === 'empty') throw noMessage();
  return begin;
}

export function noMessage(): ParleyError {
  return new ParleyError('INVALID_REQUEST', 'The session has no message that could get another reply.', {
    hint: 'Nothing was changed.',
  });
}
