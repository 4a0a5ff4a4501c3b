// A turn that this process runs. It renews the lease, stores the parts of the reply, and stops within a second after the turn is lost.
import type { ReplyPart, SessionStore, Turn } from '../store/session-store.ts';

/** The reason of `signal` when another process has taken the turn. */
export class TurnLost extends Error {}

/** The longest time (ms) between two calls of `renewTurn`. Most calls are reads; a renewal after a third of the lease is a write. */
const renewalMs = 500;
/** One of this many calls also stores the new part of the reply. */
const renewalsPerPart = 3;

/** The whole text of a reply so far, with the other fields of its parts. */
export type ReplySoFar = Omit<ReplyPart, 'at' | 'content'> & { readonly text: string };

interface HeldTurnOptions {
  readonly leaseMs: number;
  readonly caller: AbortSignal;
  readonly replySoFar: () => ReplySoFar;
}

export class HeldTurn {
  /** Fires with the caller's reason when the caller stops the turn, and with {@link TurnLost} when another process has taken the turn. */
  readonly signal: AbortSignal;
  readonly #stop = new AbortController();
  readonly #caller: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #replySoFar: () => ReplySoFar;
  #isRenewing = false;
  #renewals = 0;
  /** How many UTF-16 units of the reply are stored as parts. */
  #storedLength = 0;

  constructor(
    store: Pick<SessionStore, 'renewTurn'>,
    projectId: string,
    turn: Turn,
    { leaseMs, caller, replySoFar }: HeldTurnOptions,
  ) {
    this.#replySoFar = replySoFar;
    this.signal = this.#stop.signal;
    this.#caller = caller;
    if (caller.aborted) this.#follow();
    else caller.addEventListener('abort', this.#follow, { once: true });
    // After a process was suspended, this timer is due as soon as the process runs again.
    this.#timer = setInterval(
      async () => {
        if (this.#isRenewing) return;
        this.#isRenewing = true;
        try {
          const part = this.#nextPart();
          if (await store.renewTurn(projectId, turn, leaseMs, part))
            this.#storedLength += part?.content.length ?? 0;
          else this.#stop.abort(new TurnLost());
        } catch {
          // A failed renewal is tried again at the next tick; the lease still runs.
        } finally {
          this.#isRenewing = false;
        }
      },
      Math.min(renewalMs, leaseMs / 6),
    );
    this.#timer.unref();
  }

  /** Ends the renewals, after the end of the turn. */
  release(): void {
    clearInterval(this.#timer);
    this.#caller.removeEventListener('abort', this.#follow);
  }

  #nextPart(): ReplyPart | null {
    this.#renewals += 1;
    if (this.#renewals % renewalsPerPart !== 0) return null;
    const { text, ...place } = this.#replySoFar();
    return text.length > this.#storedLength
      ? { at: this.#storedLength, content: text.slice(this.#storedLength), ...place }
      : null;
  }

  readonly #follow = () => this.#stop.abort(this.#caller.reason);
}
