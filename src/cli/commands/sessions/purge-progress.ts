// The progress of a purge at a terminal: a count of the erased sessions, then a spinner while their bytes are overwritten.
import { type BatchProgress, itemProgress } from '../../batch/batch-progress.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../../counted.ts';
import { showWaiting, type Waiting } from '../../terminal/progress.ts';

export class PurgeProgress {
  readonly #context: CliContext;
  readonly #sessions: number;
  readonly #progress: BatchProgress;
  #spinner: Waiting | null = null;

  constructor(sessions: number, context: CliContext) {
    this.#context = context;
    this.#sessions = sessions;
    this.#progress = itemProgress(context, 'erased', sessions);
    if (sessions === 0) this.#overwrite();
  }

  add(sessions: number): void {
    this.#progress.finishMany('erased', sessions);
    if (this.#progress.finished >= this.#sessions) this.#overwrite();
  }

  /** The summary sentence with these words. */
  ending(words: string): string {
    return this.#progress.ending(words);
  }

  /** Runs the purge. If it fails, says how many sessions are erased by then, because that cannot be undone. */
  async over<Report>(purge: Promise<Report>): Promise<Report> {
    try {
      return await purge;
    } catch (error) {
      this.#stop();
      if (this.#progress.finished > 0) {
        const erased = counted(this.#progress.finished, 'session');
        await this.#context.say(`Erased ${erased} before it stopped. To finish, run the command again.`);
      }
      throw error;
    } finally {
      this.#stop();
    }
  }

  #stop(): void {
    this.#progress.stop();
    this.#spinner?.stop();
  }

  #overwrite(): void {
    this.#progress.stop();
    this.#spinner ??= showWaiting('Overwriting the erased data', this.#context);
  }
}
