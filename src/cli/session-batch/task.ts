// The ids of a batch, cut into calls: one id each, or many.
import type { BatchEntry } from './id-list.ts';

export interface RunEntry extends BatchEntry {
  /** Sent before, with an unknown end: not to find it now means that it was done then. */
  readonly inDoubt?: boolean;
}

/** A call to be made, and what is known of the times it was made before. */
export interface Task {
  readonly entries: readonly RunEntry[];
  /** A 503 may have come from something between, after the server had done it. */
  readonly mayHaveActed: boolean;
}

export class TaskSource {
  readonly #entries: Iterator<RunEntry>;
  #ahead: RunEntry | null = null;

  constructor(entries: Iterable<RunEntry>) {
    this.#entries = entries[Symbol.iterator]();
  }

  /** So many distinct ids at most; their repetitions stand with the id before them. Null at the end. */
  next(size: number): Task | null {
    const entries: RunEntry[] = [];
    let distinct = 0;
    for (;;) {
      const entry = this.#ahead ?? this.#entries.next().value ?? null;
      this.#ahead = null;
      if (entry === null) break;
      if (entry.number >= 0 && distinct === size) {
        this.#ahead = entry;
        break;
      }
      entries.push(entry);
      if (entry.number >= 0) distinct += 1;
    }
    return entries.length === 0 ? null : { entries, mayHaveActed: false };
  }
}

/** Of the distinct ones, as `idsOf`. */
export function numbersOf({ entries }: Task): readonly number[] {
  return entries.map(({ number }) => number).filter((number) => number >= 0);
}

export function idsOf({ entries }: Task): readonly string[] {
  return entries.filter(({ number }) => number >= 0).map(({ id }) => id);
}
