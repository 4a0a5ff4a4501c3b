// Takes the turn of a session. Waits first for the earlier callers of this process, then for the process that runs the session's turn now.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import type { IdempotencyKey, TurnBegin } from '../store/session-store.ts';
import type { Access } from './api-keys.ts';
import type { LocalOptions } from './local-options.ts';
import { titleOf } from './text-rules.ts';
import { idempotencyMismatch, sessionNotFound, stillBusy } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';

type Begun = Extract<TurnBegin, { turn: unknown }>;

/** How often, in ms, the owner of a running turn is checked: its process may have been killed. */
const ownerLookMs = 250;

/** Throws `SESSION_BUSY` when the wait is over; nothing is stored then. */
export async function beginWhenFree(
  local: LocalOptions,
  queue: TurnQueue,
  access: Access,
  call: Call,
  request: ChatRequest,
  once: IdempotencyKey | null,
): Promise<Begun> {
  call.signal.throwIfAborted();
  const limit = new WaitLimit(call.signal, local.limits.turnWaitMs);
  let leave = () => {};
  try {
    const place = request.session_id ?? (once === null ? null : `key ${once.key}`);
    // No other call can wait for a new session.
    if (place !== null) leave = await queue.enter(`${access.projectId} ${place}`, limit);
    return await beginAtHead(local, access, call, request, once, limit);
  } finally {
    leave();
    limit.end();
  }
}

/**
 * The limit of all waits of one call, counted from the first wait on. A timer counts it, because the time of day may jump. Most turns wait
 * for nothing.
 */
class WaitLimit {
  readonly #caller: AbortSignal;
  readonly #ms: number;
  #over: AbortController | null = null;
  #alarm: NodeJS.Timeout | null = null;

  constructor(caller: AbortSignal, ms: number) {
    this.#caller = caller;
    this.#ms = ms;
  }

  /** Fires with the caller's reason, or with `SESSION_BUSY` when the wait is over. */
  get signal(): AbortSignal {
    if (this.#over === null) {
      const over = new AbortController();
      this.#over = over;
      this.#alarm = setTimeout(() => over.abort(stillBusy()), this.#ms);
      if (this.#caller.aborted) this.#follow();
      else this.#caller.addEventListener('abort', this.#follow, { once: true });
    }
    return this.#over.signal;
  }

  end(): void {
    if (this.#alarm === null) return;
    clearTimeout(this.#alarm);
    this.#caller.removeEventListener('abort', this.#follow);
  }

  readonly #follow = () => this.#over?.abort(this.#caller.reason);
}

async function beginAtHead(
  local: LocalOptions,
  { projectId, keyHash }: Access,
  call: Call,
  request: ChatRequest,
  once: IdempotencyKey | null,
  limit: WaitLimit,
): Promise<Begun> {
  for (let deadOwner: string | null = null; ; ) {
    const now = local.now();
    const start = {
      session_id: request.session_id,
      newSession: {
        session_id: local.ids.next('ses', now),
        title: request.title ?? titleOf(request.message),
        system: request.system ?? null,
        parameters: request.parameters ?? {},
      },
      message_id: local.ids.next('msg', now),
      closing_message_id: local.ids.next('msg', now),
      content: request.message,
      mode: request.mode,
      now,
      lease: { owner: local.owner.id, ms: local.limits.turnLeaseMs },
      deadOwner,
      once,
      keyHash,
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
        deadOwner = await waitUntilFree(local, projectId, begin, limit.signal);
    }
  }
}

/** Resolves when the turn may be free: with the owner if it is dead, with null if the turn has ended. */
async function waitUntilFree(
  { owner, store }: LocalOptions,
  projectId: string,
  running: Extract<TurnBegin, { kind: 'busy' }>,
  signal: AbortSignal,
): Promise<string | null> {
  for (;;) {
    signal.throwIfAborted();
    if (owner.isGone(running.owner)) return running.owner;
    if (await store.waitForTurn(projectId, running, ownerLookMs, signal)) return null;
  }
}
