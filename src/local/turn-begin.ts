// Takes the turn of a session, waiting for the one before it to end: first for those who came before in this process, then for whoever
// runs the turn, here or in another process.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import type { IdempotencyKey, TurnBegin } from '../store/session-store.ts';
import type { LocalOptions } from './local-options.ts';
import { titleOf } from './text-rules.ts';
import { idempotencyMismatch, sessionNotFound, stillBusy } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';

type Begun = Extract<TurnBegin, { turn: unknown }>;

/** How often, while a turn runs, its owner is looked for: it may have been killed. */
const ownerLookMs = 250;

/** Throws `SESSION_BUSY` when the wait is over; nothing is kept then. */
export async function beginWhenFree(
  local: LocalOptions,
  queue: TurnQueue,
  projectId: string,
  call: Call,
  request: ChatRequest,
  once: IdempotencyKey | null,
): Promise<Begun> {
  call.signal.throwIfAborted();
  // A timer, and no time of day: that may jump.
  const patience = new AbortController();
  const follow = () => patience.abort(call.signal.reason);
  call.signal.addEventListener('abort', follow, { once: true });
  const alarm = setTimeout(() => patience.abort(stillBusy()), local.limits.turnWaitMs);
  let leave = () => {};
  try {
    const place = request.session_id ?? (once === null ? null : `key ${once.key}`);
    // A session that is new is wanted by nobody else.
    if (place !== null) leave = await queue.enter(`${projectId} ${place}`, patience.signal);
    return await beginAtHead(local, projectId, call, request, once, patience.signal);
  } finally {
    leave();
    clearTimeout(alarm);
    call.signal.removeEventListener('abort', follow);
  }
}

async function beginAtHead(
  local: LocalOptions,
  projectId: string,
  call: Call,
  request: ChatRequest,
  once: IdempotencyKey | null,
  patience: AbortSignal,
): Promise<Begun> {
  for (let deadOwner: string | null = null; ; ) {
    const now = local.now();
    const start = {
      session_id: request.session_id,
      newSession: { session_id: local.ids.next('ses', now), title: titleOf(request.message) },
      message_id: local.ids.next('msg', now),
      closing_message_id: local.ids.next('msg', now),
      content: request.message,
      mode: request.mode,
      now,
      lease: { owner: local.owner.id, ms: local.limits.turnLeaseMs },
      deadOwner,
      once,
    };
    const begin = await local.store.beginTurn(projectId, start, call.signal);
    switch (begin.kind) {
      case 'begun':
      case 'answered':
        return begin;
      case 'not_found':
        throw sessionNotFound();
      case 'mismatch':
        throw idempotencyMismatch();
      case 'busy':
        deadOwner = await whoDied(local, projectId, begin, patience);
    }
  }
}

/** Resolves when the turn may be free: with its owner where that is dead, with null where it has ended. */
async function whoDied(
  { owner, store }: LocalOptions,
  projectId: string,
  running: Extract<TurnBegin, { kind: 'busy' }>,
  patience: AbortSignal,
): Promise<string | null> {
  for (;;) {
    patience.throwIfAborted();
    if (owner.isGone(running.owner)) return running.owner;
    if (await store.waitForTurn(projectId, running, ownerLookMs, patience)) return null;
  }
}
