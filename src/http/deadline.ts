// A time limit for one wait at a time. If a suspended process continues after the limit, input that arrived meanwhile is read before the
// limit counts.

/** Calls `onOver` with the limit in ms when the limit is over. */
export class Deadline {
  readonly #onOver: (ms: number) => void;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(onOver: (ms: number) => void) {
    this.#onOver = onOver;
  }

  start(ms: number): void {
    this.stop();
    // The event loop reads the input between its timers and its immediates.
    this.#timer = setTimeout(() => {
      this.#immediate = setImmediate(this.#onOver, ms);
    }, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
  }
}
