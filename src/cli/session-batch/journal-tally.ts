// Counts the results that a journal gets, and makes the line that says that nothing is left. A list of batches then reads the end of the
// journal alone.

/** When a batch was last undone, and how many sessions that changed. */
export interface BatchRestored {
  readonly sessions: number;
  /** ISO 8601, UTC. */
  readonly at: string;
}

export class JournalTally {
  readonly #idBytes: number;
  readonly #ids: number;
  #done: number;
  #missing: number;
  readonly #restored: BatchRestored | null;

  /** `idBytes` is the offset of the seal. The others say what the journal records already. */
  constructor(idBytes: number, ids: number, done = 0, missing = 0, restored: BatchRestored | null = null) {
    this.#idBytes = idBytes;
    this.#ids = ids;
    this.#done = done;
    this.#missing = missing;
    this.#restored = restored;
  }

  add(status: string): void {
    if (status === 'not_found') this.#missing += 1;
    else if (status !== 'failed' && status !== 'unsure') this.#done += 1;
  }

  /** Empty while ids are left. */
  get line(): string {
    if (this.#done + this.#missing !== this.#ids) return '';
    const restored = this.#restored === null ? '' : ` ${this.#restored.sessions} ${this.#restored.at}`;
    return `complete ${this.#idBytes} ${this.#done} ${this.#missing}${restored}\n`;
  }
}
