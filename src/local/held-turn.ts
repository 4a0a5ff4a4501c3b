// A turn while this process runs it: its lease is renewed, what comes of its reply is kept, and whoever has lost it is told within a second.
import type { ReplyPart, SessionStore, Turn } from '../store/session-store.ts';

/** The reason for which `signal` fires when another has taken the turn. */
export class TurnLost extends Error {}

/** How often the store is asked at least, ms. To ask is a read; to renew, a third of a lease later, is a write. */
const askMs = 500;
/** Of so many asks one brings what has come of the reply. */
const asksOfPart = 3;

/** What has come of a reply: all of its text, and what its parts are kept with. */
export type ReplySoFar = Omit<ReplyPart, 'at' | 'content'> & { readonly text: string };

export interface HeldTurnOptions {
  readonly leaseMs: number;
  readonly caller: AbortSignal;
  readonly soFar: () => ReplySoFar;
}

export class HeldTurn {
  /** Fires when the caller stops the turn, with the caller's reason, or when the turn is lost, with {@link TurnLost}. */
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #soFar: () => ReplySoFar;
  #isAsking = false;
  #asks = 0;
  /** UTF-16 units of the reply that are kept. */
  #kept = 0;

  constructor(
    store: SessionStore,
    projectId: string,
    turn: Turn,
    { leaseMs, caller, soFar }: HeldTurnOptions,
  ) {
    this.#soFar = soFar;
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
          const part = this.#nextPart();
          if (await store.renewTurn(projectId, turn, leaseMs, part)) this.#kept += part?.content.length ?? 0;
          else this.#stop.abort(new TurnLost());
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

  #nextPart(): ReplyPart | null {
    this.#asks += 1;
    if (this.#asks % asksOfPart !== 0) return null;
    const { text, ...place } = this.#soFar();
    return text.length > this.#kept ? { ...place, at: this.#kept, content: text.slice(this.#kept) } : null;
  }

  readonly #follow = () => this.#stop.abort(this.#caller.reason);
}
