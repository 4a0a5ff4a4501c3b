// When a server wants less, the whole batch waits, not only the line that was told so.

export interface PaceOptions {
  /** Milliseconds. */
  readonly now: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

export class Pace {
  readonly #options: PaceOptions;
  #until = 0;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Resolves when requests may go out; rejects with the signal's reason. */
  async ready(signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = this.#until - this.#options.now();
      if (left <= 0) return;
      await this.#options.wait(left, signal);
    }
  }

  holdBack(seconds: number): void {
    this.#until = Math.max(this.#until, this.#options.now() + seconds * 1000);
  }
}
