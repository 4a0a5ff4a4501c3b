// How far a batch is, on stderr: on a terminal one line that is drawn again, elsewhere a line every ten seconds where that is asked for.
import type { Output } from '../terminal/output.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import type { StartTimer } from '../terminal/timer.ts';
import type { BatchOutcome } from './batch-answers.ts';

export interface BatchProgressOptions {
  readonly stderr: Output;
  /** `live`: a line that is drawn again; `lines`: one after the other. */
  readonly form: 'live' | 'lines' | 'none';
  /** Bytes of the input; null where its end is not known. */
  readonly inputSize: number | null;
  readonly startTimer: StartTimer;
  readonly now: () => number;
}

const everyMs = { live: 200, lines: 10_000, none: 0 } as const;

export class BatchProgress {
  readonly #options: BatchProgressOptions;
  readonly #counts = { answered: 0, failed: 0, interrupted: 0, skipped: 0 };
  readonly #began: number;
  /** Where in the input the first line that was sent begins, and the last that was written ends. */
  #from: number | null = null;
  #to = 0;
  #cancel = () => {};
  #isShown = false;

  constructor(options: BatchProgressOptions) {
    this.#options = options;
    this.#began = options.now();
    this.#schedule();
  }

  get failed(): number {
    return this.#counts.failed;
  }

  skip(): void {
    this.#counts.skipped += 1;
  }

  add(results: readonly BatchOutcome[]): void {
    for (const { outcome, item } of results) {
      this.#counts[outcome] += 1;
      this.#from ??= item.end - item.size;
      this.#to = item.end;
    }
  }

  /** Before anything else is said. A second time does nothing. */
  stop(): void {
    this.#cancel();
    if (this.#isShown && this.#options.form === 'live')
      void this.#options.stderr.write(terminalText`\r\x1b[K`);
    this.#isShown = false;
  }

  /** `12 answered, 1 failed, 3 answered before`. */
  summary(): string {
    const { answered, failed, interrupted, skipped } = this.#counts;
    const parts = [`${answered} answered`];
    if (failed > 0) parts.push(`${failed} failed`);
    if (interrupted > 0) parts.push(`${interrupted} stopped`);
    if (skipped > 0) parts.push(`${skipped} answered before`);
    return parts.join(', ');
  }

  #line(): string {
    const { now, inputSize } = this.#options;
    const { answered, failed } = this.#counts;
    const seconds = (now() - this.#began) / 1000;
    const rate = seconds > 0 ? (answered + failed) / seconds : 0;
    const parts = [this.summary(), `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second`];
    const done = this.#to - (this.#from ?? 0);
    if (inputSize !== null && done > 0) {
      parts.push(`${duration((seconds * Math.max(0, inputSize - this.#to)) / done)} left`);
    }
    return parts.join(', ');
  }

  #schedule(): void {
    const { form, startTimer } = this.#options;
    if (form === 'none') return;
    this.#cancel = startTimer(everyMs[form], () => {
      this.#show();
      this.#schedule();
    });
  }

  #show(): void {
    const { form, stderr } = this.#options;
    const line = this.#line();
    this.#isShown = true;
    // A line that is wider than the terminal could not be drawn over.
    void stderr.write(
      form === 'live' ? terminalText`\r${line.slice(0, stderr.columns() - 1)}\x1b[K` : `${line}\n`,
    );
  }
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
