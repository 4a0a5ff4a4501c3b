// Shows a batch of sessions to the user: a result line for each id, the progress, and a summary. A terminal gets the lines of what was
// not done alone, unless all are wanted.
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import type { CliContext } from '../context.ts';
import { oneLine } from '../terminal/filter.ts';
import { toJson } from '../terminal/json.ts';

export interface ItemResult {
  readonly session_id: string;
  readonly status: string;
  /**
   * True if a repeated request found the session gone. The session counts as done, because only the answer to the first request was lost.
   */
  readonly repeated?: boolean;
  /** What a change of the ordering has changed. */
  readonly changed?: readonly string[];
  /** The file that the session was written to. */
  readonly file?: string;
  /** Why a session was passed over. */
  readonly reason?: string;
  /** How many messages a redaction changed, and how many secrets of which kind it replaced. */
  readonly messages?: number;
  readonly kinds?: string;
  /** The session that an imported one went on differently from. */
  readonly fork_of?: string;
  /** The place where a sync has changed the session: here, at the other place, or both. */
  readonly at?: 'local' | 'remote' | 'both';
  /** The session that a sync has made of the messages of one side. */
  readonly fork?: string;
  /** The program that an imported session comes from, and its id there. */
  readonly source?: string;
  readonly source_id?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** How many lines of ids that were not done a terminal shows. */
export const mostShown = 20;

export interface BatchReportOptions {
  /** The number of distinct ids. */
  readonly total: number;
  /** The status of an id that was done. */
  readonly done: string;
  /** True: a result line for each id also at a terminal. */
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
    this.#showsAll = verbose || context.options.json || !context.stdout.isTerminal;
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
    if (this.#showsAll) this.#lines.push(resultLine(result, this.#context));
    else if (status === this.#done) return;
    else if (this.#lines.length < mostShown) this.#lines.push(resultLine(result, this.#context));
    else this.#unshown += 1;
  }

  /** Writes the lines that are due. At a terminal those of what was not done come at the end. */
  async flush(): Promise<void> {
    if (this.#showsAll) await this.#writeLines();
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

  async summarize(): Promise<void> {
    this.progress.stop();
    await this.#writeLines();
    if (this.#unshown > 0) await this.#context.say(`… and ${this.#unshown} more; --verbose shows all.`);
    const remarks = [...this.#repeated].map(
      ([status, count]) => [status, ` (${count} of them counted after a repeated request)`] as const,
    );
    if (this.progress.finished === 0) return;
    await this.#context.say(this.progress.sentence('session', new Map(remarks)));
  }
}

/** Writes one line per result. */
export async function writeResults(results: readonly ItemResult[], context: CliContext): Promise<void> {
  await context.stdout.write(results.map((result) => resultLine(result, context)).join(''));
}

function resultLine(result: ItemResult, { options }: CliContext): string {
  const { status, session_id, error, fork, reason = fork } = result;
  if (options.json) return `${toJson(result)}\n`;
  const why = status === 'failed' ? error?.code : reason;
  // An id that a foreign file or server names must not look like further results.
  return `${oneLine(`${status} ${session_id}${why === undefined ? '' : ` ${why}`}`)}\n`;
}
