// A turn while this process runs it: its lease is renewed, and whoever has lost it is told within a second.
import type { SessionStore, Turn } from '../store/session-store.ts';

/** The reason for which `signal` fires when another has taken the turn. */
export class TurnLost extends Error {}

/** How often the store is asked at least, ms. To ask is a read; to renew, a third of a lease later, is a write. */
const askMs = 500;

export class HeldTurn {
  /** Fires when the caller stops the turn, with the caller's reason, or when the turn is lost, with {@link TurnLost}. */
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
    // A process that stood still finds this timer due at once.
    this.#timer = setInterval(
      async () => {
        if (this.#isAsking) return;
        this.#isAsking = true;
        try {
          if (!(await store.renewTurn(projectId, turn, leaseMs))) this.#stop.abort(new TurnLost());
        } catch {
          // A renewal that fails is followed by another; the lease runs on meanwhile.
        } finally {
          this.#isAsking = false;
        }
      },
      Math.min(askMs, leaseMs / 6),
    );
    this.#timer.unref();
  }

  /** The turn has ended: nothing is renewed any more. */
  release(): void {
    clearInterval(this.#timer);
    this.#caller.removeEventListener('abort', this.#follow);
  }

  readonly #follow = () => this.#stop.abort(this.#caller.reason);
}
