// Waits for the turn of a session: first for the earlier callers of this process, then for the process that runs the session's turn now.
import type { Call } from '../service/call.ts';
import type { TurnBegin } from '../store/session-store.ts';
import type { LocalOptions } from './local-options.ts';
import { idempotencyMismatch, sessionNotFound, stillBusy } from './turn-failures.ts';
import type { TurnQueue } from './turn-queue.ts';

/** The results with which a store has done nothing. */
type Refusal = Extract<TurnBegin, { kind: 'busy' | 'not_found' | 'mismatch' }>;

const refusalKinds: readonly string[] = ['busy', 'not_found', 'mismatch'];

/** How often, in ms, the owner of a running turn is checked: its process may have been killed. */
const ownerLookMs = 250;

export interface TurnPlace {
  readonly projectId: string;
  /** The session, or another name for what callers wait for; null if no other caller can wait for it. */
  readonly name: string | null;
}

/**
 * Asks the store until no turn runs in the session. `ask` gets the owner of the turn if that owner is dead. Throws `SESSION_BUSY` when the
 * wait is over, `SESSION_NOT_FOUND` and `IDEMPOTENCY_MISMATCH`; nothing is stored then.
 */
export async function askWhenFree<Answer extends { readonly kind: string }>(
  local: LocalOptions,
  queue: TurnQueue,
  { projectId, name }: TurnPlace,
  call: Call,
  ask: (deadOwner: string | null) => Promise<Answer | Refusal>,
): Promise<Exclude<Answer, Refusal>> {
  call.signal.throwIfAborted();
  const limit = new WaitLimit(call.signal, local.limits.turnWaitMs);
  let leave = () => {};
  try {
    if (name !== null) leave = await queue.enter(`${projectId} ${name}`, limit);
    for (let deadOwner: string | null = null; ; ) {
      const answer = await ask(deadOwner);
      if (!isRefusal(answer)) return answer as Exclude<Answer, Refusal>;
      if (answer.kind === 'not_found') throw sessionNotFound();
      if (answer.kind === 'mismatch') throw idempotencyMismatch();
      call.notice?.({ kind: 'busy' });
      deadOwner = await waitUntilFree(local, projectId, answer, limit.signal);
    }
  } finally {
    leave();
    limit.end();
  }
}

function isRefusal(answer: { readonly kind: string }): answer is Refusal {
  return refusalKinds.includes(answer.kind);
}

/**
 * The limit of all waits of one call, counted from the first wait on. A timer counts it, because the time of day may jump. Most turns wait
 * for nothing.
 */
class WaitLimit {
  readonly #caller: AbortSignal;
  readonly #ms: number;
  #over: AbortController | null = null;
  #alarm: NodeJS.Timeout | undefined;
  /** Passes the caller's reason on. Undefined before the first wait. */
  #follow: (() => void) | undefined;

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
      this.#follow = () => over.abort(this.#caller.reason);
      if (this.#caller.aborted) this.#follow();
      else this.#caller.addEventListener('abort', this.#follow, { once: true });
    }
    return this.#over.signal;
  }

  end(): void {
    if (this.#follow === undefined) return;
    clearTimeout(this.#alarm);
    this.#caller.removeEventListener('abort', this.#follow);
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
