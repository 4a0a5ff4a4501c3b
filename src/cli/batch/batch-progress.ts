// The progress of a batch: counts the outcomes and shows them on stderr. A terminal gets one line that is redrawn; any other stderr gets one
// line every ten seconds.

import { duration } from '../../service/duration.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { summarySentence } from '../summary-sentence.ts';
import type { Output } from '../terminal/output.ts';
import { type StartTimer, startTimer } from '../terminal/timer.ts';

interface BatchProgressOptions {
  readonly stderr: Output;
  readonly form: 'live' | 'lines' | 'none';
  /** The size of the batch, in items or in bytes of its input; null if it is unknown. */
  readonly end: number | null;
  readonly unit: 'items' | 'bytes';
  /** The outcomes in the order of the summary, which always shows the first one. Other outcomes follow in the order in which they occur. */
  readonly outcomes: readonly string[];
  readonly startTimer: StartTimer;
  readonly now: () => number;
}

const everyMs = { live: 200, lines: 10_000, none: 0 } as const;
/** The width of the bar, and of the narrowest terminal that shows it, in columns. */
const barWidth = 20;

export class BatchProgress {
  readonly #options: BatchProgressOptions;
  readonly #counts: Map<string, number>;
  readonly #startedAt: number;
  #finished = 0;
  /** Where the work started, and how far it is, in the unit of the batch. */
  #from: number | null = null;
  #to = 0;
  #cancel = () => {};
  #pauseMs = () => 0;
  #refusal: () => string | null = () => null;

  constructor(options: BatchProgressOptions) {
    this.#options = options;
    this.#counts = new Map(options.outcomes.map((outcome) => [outcome, 0]));
    this.#startedAt = options.now();
    this.#schedule();
  }

  /** The number of finished items. */
  get finished(): number {
    return this.#finished;
  }

  /** Sets what to show while calls wait because the server asked for it: how long (ms), and by which refusal. */
  waitsFor(pauseMs: () => number, refusal: () => string | null = () => null): void {
    this.#pauseMs = pauseMs;
    this.#refusal = refusal;
  }

  /** The number of items with this outcome. */
  count(outcome: string): number {
    return this.#counts.get(outcome) ?? 0;
  }

  /** Counts an item that took no work. The rate ignores it. */
  pass(outcome: string): void {
    this.#counts.set(outcome, this.count(outcome) + 1);
  }

  /** Counts a finished item. `from` and `to` are its range in the unit of the batch; by default each item is one. */
  finish(outcome: string, from = this.#finished, to = from + 1): void {
    this.pass(outcome);
    this.#finished += 1;
    this.#from ??= from;
    this.#to = to;
  }

  /** Counts finished items of a batch in items. */
  finishMany(outcome: string, count: number): void {
    for (let item = 0; item < count; item += 1) this.finish(outcome);
  }

  /** Removes the drawn line. Call it before other output to the terminal. */
  clear(): void {
    this.#options.stderr.erase();
  }

  /** A second call does nothing. */
  stop(): void {
    this.#cancel();
    this.clear();
  }

  /**
   * The summary: `12 sessions deleted, 1 failed, 3 not found, in 25 s.` `remarks` maps an outcome to a remark that follows it.
   */
  sentence(thing: string, remarks: ReadonlyMap<string, string> = new Map()): string {
    return this.ending(this.#counted((count) => counted(count, thing), remarks));
  }

  /** The summary sentence with these words and the time of the work. */
  ending(words: string): string {
    return summarySentence(words, this.#options.now() - this.#startedAt);
  }

  /** `12 answered, 1 failed, 3 answered before`. `format` formats the first number. */
  #counted(format: (count: number) => string, remarks: ReadonlyMap<string, string> = new Map()): string {
    const [first] = this.#options.outcomes;
    return [...this.#counts]
      .filter(([outcome, count]) => count > 0 || outcome === first)
      .map(([outcome, count], at) => {
        const number = at === 0 ? format(count) : String(count);
        return `${number} ${outcomeText(outcome)}${remarks.get(outcome) ?? ''}`;
      })
      .join(', ');
  }

  #line(): string {
    const { now, end, unit } = this.#options;
    const seconds = (now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? this.#finished / seconds : 0;
    const done = this.#to - (this.#from ?? 0);
    const remaining = end === null || done <= 0 ? null : (seconds * Math.max(0, end - this.#to)) / done;
    const waits = Math.ceil(this.#pauseMs() / 1000);
    const refusal = this.#refusal();
    const why = refusal === null ? ' for the server' : `: ${refusal}`;
    return [
      unit === 'items' && end !== null ? `${this.#finished} of ${end}` : this.#counted(String),
      ...(unit === 'bytes' && end !== null ? [`${Math.floor((100 * this.#to) / end)} %`] : []),
      ...(waits > 0 ? [`waiting ${waits} s${why}`] : []),
      `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second`,
      ...(remaining === null ? [] : [`${duration(remaining)} left`]),
    ].join(', ');
  }

  /** `[=====>              ] ` and the line; the line alone if the end is unknown or the terminal is too narrow for both. */
  #withBar(line: string): string {
    const { end, stderr } = this.#options;
    if (end === null) return line;
    const full = Math.floor(Math.min(1, this.#to / end) * barWidth);
    const head = full === barWidth ? '' : '>';
    const both = `[${`${'='.repeat(full)}${head}`.padEnd(barWidth)}] ${line}`;
    // The last column stays empty.
    return both.length < stderr.columns() ? both : line;
  }

  #schedule(): void {
    const { form, end } = this.#options;
    if (form === 'none' || end === 0) return;
    this.#cancel = this.#options.startTimer(everyMs[form], () => {
      this.#show(form);
      this.#schedule();
    });
  }

  #show(form: 'live' | 'lines'): void {
    const { stderr } = this.#options;
    if (form === 'live') stderr.draw(this.#withBar(this.#line()));
    else void stderr.write(`${this.#line()}\n`);
  }
}

/** The outcomes of dry runs. Every other outcome is shown with spaces for underscores. */
const dryRunText: Readonly<Record<string, string>> = {
  would_delete: 'would be deleted',
  would_pin: 'would be pinned',
  would_unpin: 'would be unpinned',
  would_archive: 'would be archived',
  would_unarchive: 'would be unarchived',
  would_tag: 'would be tagged',
  would_import: 'would be imported',
  would_push: 'would be pushed',
  would_pull: 'would be pulled',
  would_change: 'would be changed',
  would_fork: 'would be forked',
  would_restore: 'would be restored',
  would_redact: 'would be redacted',
};

function outcomeText(outcome: string): string {
  return dryRunText[outcome] ?? outcome.replaceAll('_', ' ');
}

/** Starts a progress. `resultsApart` is true if the results do not appear on the terminal of stderr. */
export function progressOn(
  { stderr, stdout, options }: CliContext,
  batch: Pick<BatchProgressOptions, 'end' | 'unit' | 'outcomes'> & {
    readonly resultsApart: boolean;
  },
): BatchProgress {
  const resultsApart = batch.resultsApart || !stdout.isTerminal;
  // A terminal whose width is not known yet may report it while the work runs.
  const isLive = resultsApart && (stderr.redraws || (stderr.formats && !options.progress));
  let form: BatchProgressOptions['form'] = 'none';
  if (!options.quiet && isLive) form = 'live';
  else if (!options.quiet && options.progress) form = 'lines';
  return new BatchProgress({ ...batch, stderr, form, startTimer, now: monotonicMs });
}

/** Starts a progress of items with one expected outcome, whose results do not appear on the terminal. A null `end` is unknown. */
export function itemProgress(context: CliContext, outcome: string, end: number | null): BatchProgress {
  return progressOn(context, { end, unit: 'items', outcomes: [outcome], resultsApart: true });
}
