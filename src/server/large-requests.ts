// Requests with a large body: how many bytes of such bodies are held at a time, of one key and of all, and that one of them is worked
// on at a time. Whoever has to wait is read no further until there is room.
import { ClientGone } from './client-gone.ts';

/** A body of more bytes is a large one. */
export const largeBytes = 64 * 1024;

/** Each is enough for the largest body. */
export interface LargeRequestLimits {
  readonly largeBodyBytesPerKey: number;
  readonly largeBodyBytes: number;
}

/** The place of one large request. */
export interface LargeRequest {
  /** Resolves when no other large request is worked on. */
  turn(): Promise<void>;
  /** The body is held no longer. More than once does nothing more. */
  leave(): void;
}

interface Waiting {
  readonly key: string;
  readonly bytes: number;
  enter(): void;
}

export class LargeRequests {
  readonly #limits: LargeRequestLimits;
  readonly #heldByKey = new Map<string, number>();
  readonly #turns: (() => void)[] = [];
  #held = 0;
  #isBusy = false;
  #waiting: Waiting[] = [];

  constructor(limits: LargeRequestLimits) {
    this.#limits = limits;
  }

  /** Resolves when there is room for a body of so many bytes. Rejects once the signal fires. */
  async enter(key: string, bytes: number, signal: AbortSignal): Promise<LargeRequest> {
    if (signal.aborted) throw new ClientGone(signal.reason);
    if (this.#hasRoom(key, bytes)) this.#hold(key, bytes);
    else await this.#room(key, bytes, signal);
    return this.#place(key, bytes);
  }

  #room(key: string, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const gone = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        reject(new ClientGone(signal.reason));
      };
      const waiting = {
        key,
        bytes,
        enter() {
          signal.removeEventListener('abort', gone);
          resolve();
        },
      };
      signal.addEventListener('abort', gone, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #place(key: string, bytes: number): LargeRequest {
    let hasTurn = false;
    let hasLeft = false;
    return {
      turn: async () => {
        if (this.#isBusy) await new Promise<void>((resolve) => this.#turns.push(resolve));
        this.#isBusy = true;
        hasTurn = true;
      },
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        if (hasTurn) this.#endTurn();
        this.#release(key, bytes);
      },
    };
  }

  /** The next one takes the turn over, so that nobody comes in between. */
  #endTurn(): void {
    const next = this.#turns.shift();
    if (next === undefined) this.#isBusy = false;
    else next();
  }

  #hasRoom(key: string, bytes: number): boolean {
    const { largeBodyBytes, largeBodyBytesPerKey } = this.#limits;
    const ofKey = this.#heldByKey.get(key) ?? 0;
    return this.#held + bytes <= largeBodyBytes && ofKey + bytes <= largeBodyBytesPerKey;
  }

  #hold(key: string, bytes: number): void {
    this.#held += bytes;
    this.#heldByKey.set(key, (this.#heldByKey.get(key) ?? 0) + bytes);
  }

  #release(key: string, bytes: number): void {
    this.#held -= bytes;
    const ofKey = (this.#heldByKey.get(key) ?? 0) - bytes;
    if (ofKey > 0) this.#heldByKey.set(key, ofKey);
    else this.#heldByKey.delete(key);
    this.#waiting = this.#waiting.filter((one) => {
      if (!this.#hasRoom(one.key, one.bytes)) return true;
      this.#hold(one.key, one.bytes);
      one.enter();
      return false;
    });
  }
}
