// Lets the first of several callers through at once, and all that come within some time after it together, at the end of that time. What
// they then write shares one commit.
import { monotonicMs } from '../../system/monotonic-clock.ts';

export class Gate {
  readonly #ms: number;
  #lastMs = Number.NEGATIVE_INFINITY;
  #next: Promise<void> | null = null;

  /** `ms`: the least time between two openings. */
  constructor(ms: number) {
    this.#ms = ms;
  }

  async pass(): Promise<void> {
    const left = this.#lastMs + this.#ms - monotonicMs();
    if (left > 0) {
      this.#next ??= new Promise((resolve) => setTimeout(resolve, left).unref());
      await this.#next;
    }
    this.#next = null;
    this.#lastMs = monotonicMs();
  }
}
