// Shows a batch of sessions to the user: a result line for each id, the progress, and a summary.
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import type { CliContext } from '../context.ts';
import { toJson } from '../terminal/json.ts';

export interface ItemResult {
  readonly session_id: string;
  readonly status: string;
  /**
   * True if a repeated request found the session gone. The session counts as done, because only the answer to the first request was lost.
   */
  readonly repeated?: boolean;
  /** The file that the session was written to. */
  readonly file?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export class BatchReport {
  readonly progress: BatchProgress;
  readonly #context: CliContext;
  readonly #repeated = new Map<string, number>();
  #lines: string[] = [];

  /** `total` is the number of distinct ids. */
  constructor(context: CliContext, total: number) {
    this.#context = context;
    this.progress = progressOn(context, {
      end: total,
      unit: 'items',
      outcomes: [],
      resultsApart: false,
      // On a terminal, the scrolling results show the progress.
      lines: !(context.stderr.redraws && context.stdout.isTerminal),
    });
  }

  /** Adds a result. `flush` writes the added results together. */
  add(result: ItemResult): void {
    const { status, repeated } = result;
    if (status === 'duplicate') this.progress.pass(status);
    else this.progress.finish(status);
    if (repeated) this.#repeated.set(status, (this.#repeated.get(status) ?? 0) + 1);
    this.#lines.push(resultLine(result, this.#context));
  }

  async flush(): Promise<void> {
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
    const remarks = [...this.#repeated].map(
      ([status, count]) => [status, ` (${count} of them counted after a repeated request)`] as const,
    );
    const summary = this.progress.summary(new Map(remarks));
    if (summary !== '') await this.#context.say(summary);
  }
}

/** Writes one line per result. */
export async function writeResults(results: readonly ItemResult[], context: CliContext): Promise<void> {
  await context.stdout.write(results.map((result) => resultLine(result, context)).join(''));
}

function resultLine(result: ItemResult, { options }: CliContext): string {
  const { status, session_id, error } = result;
  if (options.json) return `${toJson(result)}\n`;
  return `${status} ${session_id}${status === 'failed' && error ? ` ${error.code}` : ''}\n`;
}
