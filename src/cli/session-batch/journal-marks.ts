// Marks in the journal which ids may have been sent. A mark is on disk before the ids below it are sent. Calls with single ids rarely wait for
// the disk, because the next mark is made ahead of them.
import type { BatchJournal } from './journal.ts';

/** How many ids a mark is ahead. Each mark syncs the disk, which also delays a server on the same machine. */
const markStep = 512;

export class JournalMarks {
  readonly #journal: BatchJournal;
  #reached = 0;
  #marking: Promise<void> | null = null;

  constructor(journal: BatchJournal) {
    this.#journal = journal;
  }

  /** Resolves when number `last` may be sent; rejects if the journal cannot be written. `isSingle` is true if each call has one id. */
  async mark(last: number, isSingle: boolean): Promise<void> {
    if (last < 0) return;
    const ahead = isSingle ? markStep : 0;
    const next = () => {
      this.#marking ??= this.#markTo(last + 1 + ahead);
      return this.#marking;
    };
    // The first call that needs this mark gets its failure.
    if (last + ahead / 2 >= this.#reached) next().catch(() => {});
    while (last >= this.#reached) await next();
  }

  /** Resolves when no mark is being made. */
  async settle(): Promise<void> {
    await this.#marking?.catch(() => {});
  }

  async #markTo(number: number): Promise<void> {
    try {
      await this.#journal.mark(number);
      this.#reached = number;
    } finally {
      this.#marking = null;
    }
  }
}
