// What the user sees of a batch of sessions: a result line for each id, the progress, and a summary.
import { type BatchProgress, progressOn } from '../batch/batch-progress.ts';
import type { CliContext } from '../context.ts';
import { toJson } from '../terminal/json.ts';

export interface ItemResult {
  readonly session_id: string;
  readonly status: string;
  /** Counted as done after a repeated request that found nothing to do: the answer to the request before it was lost. */
  readonly repeated?: boolean;
  /** The file that it was written to. */
  readonly file?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

export class BatchReport {
  readonly progress: BatchProgress;
  readonly #context: CliContext;
  readonly #repeated = new Map<string, number>();
  #lines: string[] = [];

  /** `total`: of distinct ids. */
  constructor(context: CliContext, total: number) {
    this.#context = context;
    this.progress = progressOn(context, {
      end: total,
      unit: 'items',
      outcomes: [],
      resultsApart: false,
      // Results that scroll by on a terminal are the progress.
      lines: !(context.stderr.redraws && context.stdout.isTerminal),
    });
  }

  /** Notes a result, which `flush` writes: results that come together are one write. */
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

  /** A line of talk while the batch runs. */
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

/** A line each. */
export async function writeResults(results: readonly ItemResult[], context: CliContext): Promise<void> {
  await context.stdout.write(results.map((result) => resultLine(result, context)).join(''));
}

function resultLine(result: ItemResult, { options }: CliContext): string {
  const { status, session_id, error } = result;
  if (options.json) return `${toJson(result)}\n`;
  return `${status} ${session_id}${status === 'failed' && error ? ` ${error.code}` : ''}\n`;
}
