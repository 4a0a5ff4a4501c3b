// How many calls run at once, and when none is to begin: fewer as the server turns calls away (429, 503), more again as it
// answers. Whoever runs the calls asks before each, and tells how each ended.

export interface PacerOptions {
  /** Calls at once, at most. */
  readonly most: number;
  readonly now: () => number;
  /** 0 to 1. */
  readonly random: () => number;
}

const firstPauseMs = 250;
const longestPauseMs = 30_000;
/** Pauses one after the other that no answer came between: then it is no use. About a minute, where the server says nothing. */
const mostPauses = 8;

export class Pacer {
  readonly #options: PacerOptions;
  #limit: number;
  #until = 0;
  #pauses = 0;
  #failures = 0;

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#limit = options.most;
  }

  /** Calls at once, now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Until the next call may begin. */
  get pauseMs(): number {
    return Math.max(0, this.#until - this.#options.now());
  }

  /** Nothing but refusals and broken connections for so long that going on would only repeat them. */
  get isHopeless(): boolean {
    return this.#pauses > mostPauses || this.#failures >= Math.max(3, this.#options.most);
  }

  answered(): void {
    this.#pauses = 0;
    this.#failures = 0;
    this.#limit = Math.min(this.#options.most, this.#limit + 1 / this.#limit);
  }

  /** The call got no answer. */
  failed(): void {
    this.#failures += 1;
  }

  /** `begun`: when the call began; `retryAfter`: seconds, null where the server says none. True if this is news. */
  turnedAway(begun: number, retryAfter: number | null): boolean {
    const { now, random } = this.#options;
    const isNew = begun >= this.#until;
    // Calls that were on their way together are turned away together: that is one refusal.
    if (isNew) {
      this.#limit = Math.max(1, this.#limit / 2);
      this.#pauses += 1;
    }
    const usual = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, this.#pauses - 1));
    // A server that asks for no wait, again and again, is not taken at its word.
    const pause = Math.max(usual, (retryAfter ?? 0) * 1000) + (firstPauseMs * random()) / 2;
    this.#until = Math.max(this.#until, now() + pause);
    return isNew;
  }
}
