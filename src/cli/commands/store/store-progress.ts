// The progress of work on a whole store, counted in sessions.
import type { CopyProgress } from '../../../service/administration.ts';
import { monotonicMs } from '../../../system/monotonic-clock.ts';
import { type BatchProgress, itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { summarySentence } from '../../summary-sentence.ts';

/** Shows one line on a terminal for each phase of the work. */
export class StoreProgress implements CopyProgress {
  readonly #context: CliContext;
  readonly #startedAt = monotonicMs();
  #progress: BatchProgress | null = null;
  #phase = '';

  constructor(context: CliContext) {
    this.#context = context;
  }

  begin(phase: string, sessions: number): void {
    this.stop();
    this.#phase = phase;
    this.#progress = itemProgress(this.#context, phase, sessions);
  }

  finish(sessions: number): void {
    this.#progress?.finishMany(this.#phase, sessions);
  }

  /** The summary sentence with these words and the time of all phases. */
  ending(words: string): string {
    return summarySentence(words, monotonicMs() - this.#startedAt);
  }

  stop(): void {
    this.#progress?.stop();
    this.#progress = null;
  }
}
