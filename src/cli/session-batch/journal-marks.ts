// How far a batch may have gone, as its journal has it: said before anything is sent. Single calls do not wait for the disk: the
// journal is told ahead of them.
import type { BatchJournal } from './journal.ts';

/** How far ahead: each mark costs the disk, that of the server too where it is the same. */
const markStep = 512;

export class JournalMarks {
  readonly #journal: BatchJournal;
  readonly #failed: (error: unknown) => void;
  #reached = 0;
  #marking: Promise<void> | null = null;
  #hasFailed = false;

  /** `failed` is told why the journal cannot be written: then nothing more may be sent. */
  constructor(journal: BatchJournal, failed: (error: unknown) => void) {
    this.#journal = journal;
    this.#failed = failed;
  }

  /** False: entry `last` may be sent once `mark` has resolved. */
  isAhead(last: number): boolean {
    return last + markStep / 2 < this.#reached;
  }

  /** Resolves when the journal has the mark of entry `last`, or cannot be written. `isSingle`: calls of one id go on meanwhile. */
  async mark(last: number, isSingle: boolean): Promise<void> {
    const ahead = isSingle ? markStep : 0;
    if (last + ahead / 2 >= this.#reached) this.#marking ??= this.#markTo(last + 1 + ahead);
    while (last >= this.#reached && !this.#hasFailed) {
      this.#marking ??= this.#markTo(last + 1 + ahead);
      await this.#marking;
    }
  }

  /** Resolves when no mark is on its way any more. */
  async settled(): Promise<void> {
    await this.#marking;
  }

  async #markTo(number: number): Promise<void> {
    try {
      await this.#journal.mark(number);
      this.#reached = number;
    } catch (error) {
      this.#hasFailed = true;
      this.#failed(error);
    }
    this.#marking = null;
  }
}
