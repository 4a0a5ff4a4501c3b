// A time limit for one wait at a time.

/** Calls the given function with the limit in ms when the limit is over. */
export class Deadline {
  readonly #over: (ms: number) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(over: (ms: number) => void) {
    this.#over = over;
  }

  start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(this.#over, ms, ms);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
