// Takes the turn of a session, waiting for the one before it to end: first for those who came before in this process, then for whoever
// runs the turn, here or in another process.
import type { Call } from '../service/call.ts';
import type { ChatRequest } from '../service/chat-event.ts';
import type { IdempotencyKey, TurnBegin } from '../store/session-store.ts';
import type { Access } from './api-keys.ts';
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
  access: Access,
  call: Call,
  request: ChatRequest,
  once: IdempotencyKey | null,
): Promise<Begun> {
  call.signal.throwIfAborted();
  const patience = new Patience(call.signal, local.limits.turnWaitMs);
  let leave = () => {};
  try {
    const place = request.session_id ?? (once === null ? null : `key ${once.key}`);
    // A session that is new is wanted by nobody else.
    if (place !== null) leave = await queue.enter(`${access.projectId} ${place}`, patience);
    return await beginAtHead(local, access, call, request, once, patience);
  } finally {
    leave();
    patience.end();
  }
}

/** How long one waits, from the first wait on. By a timer, and no time of day: that may jump. Most turns wait for nothing. */
class Patience {
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
  patience: Patience,
): Promise<Begun> {
  for (let deadOwner: string | null = null; ; ) {
    const now = local.now();
    const start = {
      session_id: request.session_id,
      newSession: {
        session_id: local.ids.next('ses', now),
        title: request.title ?? titleOf(request.message),
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
        deadOwner = await whoDied(local, projectId, begin, patience.signal);
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
