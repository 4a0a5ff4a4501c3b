// Holds a turn while this process runs it: renews its lease, and reports a lost turn within a second.
import type { SessionStore, Turn } from '../store/session-store.ts';

/** The reason of `signal` when another process has taken the turn. */
export class TurnLost extends Error {}

/** The longest time between two questions to the store, in ms. A question is a read; a renewal, after a third of the lease, is a write. */
const askMs = 500;

export class HeldTurn {
  /** Fires with the caller's reason when the caller stops the turn, and with {@link TurnLost} when another process has taken the turn. */
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;

  constructor(store: SessionStore, projectId: string, turn: Turn, leaseMs: number, caller: AbortSignal) {
    this.signal = this.#stop.signal;
    this.#caller = caller;
    if (caller.aborted) this.#follow();
    else caller.addEventListener('abort', this.#follow, { once: true });
    // In a process that stood still, this timer is due as soon as the process runs again.
    this.#timer = setInterval(
      async () => {
        if (this.#isAsking) return;
        this.#isAsking = true;
        try {
          if (!(await store.renewTurn(projectId, turn, leaseMs))) this.#stop.abort(new TurnLost());
        } catch {
          // A failed renewal is tried again at the next tick; the lease still runs.
        } finally {
          this.#isAsking = false;
        }
      },
      Math.min(askMs, leaseMs / 6),
    );
    this.#timer.unref();
  }

  /** Ends the renewals, after the end of the turn. */
  release(): void {
    clearInterval(this.#timer);
    this.#caller.removeEventListener('abort', this.#follow);
  }

  readonly #follow = () => this.#stop.abort(this.#caller.reason);
}
