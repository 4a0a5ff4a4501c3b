// Lines of a terminal that come at once. A person ends one line at a time: those that follow each other without a pause were pasted.

/** Longer than the terminal takes between two lines of a paste, and too short to be felt after Enter. */
const pauseMs = 50;

export class LineBurst {
  readonly #taken: (lines: readonly string[]) => void;
  #lines: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #check: NodeJS.Immediate | undefined;

  constructor(taken: (lines: readonly string[]) => void) {
    this.#taken = taken;
  }

  add(line: string): void {
    this.#wait();
    this.#lines.push(line);
    // After a busy moment the timer is due before the terminal was read: one more look at it comes first.
    this.#timer = setTimeout(() => {
      this.#check = setImmediate(() => this.end());
    }, pauseMs);
  }

  /** Gives what has come. */
  end(): void {
    this.#wait();
    const lines = this.#lines.splice(0);
    if (lines.length > 0) this.#taken(lines);
  }

  drop(): void {
    this.#wait();
    this.#lines.length = 0;
  }

  #wait(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#check);
  }
}
