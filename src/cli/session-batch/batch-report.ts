// Reports a batch of sessions: a result line for each id, the progress, and a summary. A terminal gets only the lines of ids that were not
// done, unless all are requested.
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import type { CliContext } from '../context.ts';
import { oneLine } from '../terminal/filter.ts';
import { toJson } from '../terminal/json.ts';

export interface ItemResult {
  readonly session_id: string;
  readonly status: string;
  /**
   * True if a repeated request did not find the session. It counts as done, because only the response to the first request was lost.
   */
  readonly repeated?: boolean;
  /** What a change of pins, archiving or tags changed. */
  readonly changed?: readonly string[];
  /** The file that the session was written to. */
  readonly file?: string;
  /** Why a session was skipped. */
  readonly reason?: string;
  /** How many messages a redaction changed, and how many secrets of which kind it replaced. */
  readonly messages?: number;
  readonly kinds?: string;
  /** The session that the imported one diverged from. */
  readonly fork_of?: string;
  /** Where a sync changed the session. */
  readonly at?: 'local' | 'remote' | 'both';
  /** The session that a sync created from the messages of one side. */
  readonly fork?: string;
  /** The program that an imported session comes from, and its id there. */
  readonly source?: string;
  readonly source_id?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** The most lines of ids that were not done at a terminal, and the most failures that are explained. */
export const maxShown = 20;

interface BatchReportOptions {
  /** The number of distinct ids. */
  readonly total: number;
  /** The status of an id that was done. */
  readonly done: string;
  /** True to print a result line for each id, even at a terminal. */
  readonly verbose: boolean;
}

export class BatchReport {
  readonly progress: BatchProgress;
  readonly #context: CliContext;
  readonly #done: string;
  readonly #showsAll: boolean;
  readonly #repeated = new Map<string, number>();
  #lines: string[] = [];
  #unshown = 0;

  constructor(context: CliContext, { total, done, verbose }: BatchReportOptions) {
    this.#context = context;
    this.#done = done;
    this.#showsAll = printsEachResult(verbose, context);
    this.progress = progressOn(context, {
      end: total,
      unit: 'items',
      outcomes: [done],
      resultsApart: !this.#showsAll,
    });
  }

  /** Adds a result. `flush` writes the added results together. */
  add(result: ItemResult): void {
    const { status, repeated } = result;
    if (status === 'duplicate') this.progress.pass(status);
    else this.progress.finish(status);
    if (repeated) this.#repeated.set(status, (this.#repeated.get(status) ?? 0) + 1);
    if (!this.#showsAll && status === this.#done) return;
    if (this.#showsAll || this.#lines.length < maxShown) this.#lines.push(resultLine(result, this.#context));
    else this.#unshown += 1;
  }

  /** Writes the lines that are due. At a terminal they are written at the end. */
  async flush(): Promise<void> {
    if (this.#showsAll) await this.#writeLines();
  }

  /** Resolves to true when the system has taken the written lines, and to false if it takes no more. */
  async isPrinted(): Promise<boolean> {
    return !this.#showsAll || this.#context.stdout.finish().catch(() => false);
  }

  async #writeLines(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    await this.#context.stdout.write(lines.join(''));
  }

  /** Writes a line to the user while the batch runs. */
  async say(line: string): Promise<void> {
    this.progress.clear();
    await this.#context.say(line);
  }

  /** Writes the summary even if the lines cannot be written. */
  async summarize(): Promise<void> {
    this.progress.stop();
    try {
      await this.#writeLines();
    } finally {
      await this.#sumUp();
    }
  }

  async #sumUp(): Promise<void> {
    if (this.#unshown > 0) await this.#context.say(`… and ${this.#unshown} more; --verbose shows all.`);
    const remarks = [...this.#repeated].map(
      ([status, count]) => [status, ` (${count} of them after a repeated request)`] as const,
    );
    if (this.progress.finished === 0) return;
    await this.#context.say(this.progress.sentence('session', new Map(remarks)));
  }
}

/** True if each id gets a result line. */
export function printsEachResult(verbose: boolean, { options, stdout }: CliContext): boolean {
  return verbose || options.json || !stdout.isTerminal;
}

/** Writes one line per result. */
export async function writeResults(results: readonly ItemResult[], context: CliContext): Promise<void> {
  await context.stdout.write(results.map((result) => resultLine(result, context)).join(''));
}

function resultLine(result: ItemResult, { options }: CliContext): string {
  const { status, session_id, error, fork, reason = fork } = result;
  if (options.json) return `${toJson(result)}\n`;
  const why = status === 'failed' ? error?.code : reason;
  // An id from a foreign file or server must not look like more result lines.
  return `${oneLine(`${status} ${session_id}${why === undefined ? '' : ` ${why}`}`)}\n`;
}
