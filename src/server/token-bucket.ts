// A rate limit: `perSecond` tokens are added each second, up to as many. `perSecond` may change.

export class TokenBucket {
  readonly #perSecond: () => number;
  #tokens: number;
  #filledAt: number;

  constructor(perSecond: () => number, now: number) {
    this.#perSecond = perSecond;
    this.#tokens = this.#capacity;
    this.#filledAt = now;
  }

  get #capacity(): number {
    return Math.max(1, this.#perSecond());
  }

  /** Takes a token. Returns false if there is none. */
  take(now: number): boolean {
    this.#fill(now);
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Whole seconds until there is a token, at least 1. */
  secondsToWait(): number {
    return Math.max(1, Math.ceil((1 - this.#tokens) / this.#perSecond()));
  }

  #fill(now: number): void {
    // A clock that is set back neither adds nor removes tokens.
    const passed = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(this.#capacity, this.#tokens + (passed / 1000) * this.#perSecond());
    this.#filledAt = now;
  }
}
