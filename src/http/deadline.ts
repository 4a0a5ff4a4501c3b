// A time limit for one wait at a time.

/** Calls `onOver` with the limit in ms when the limit is over. */
export class Deadline {
  readonly #onOver: (ms: number) => void;
  #timer: NodeJS.Timeout | null = null;

  constructor(onOver: (ms: number) => void) {
    this.#onOver = onOver;
  }

  start(ms: number): void {
    this.stop();
    this.#timer = setTimeout(this.#onOver, ms, ms);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
