// What the user sees of a batch: a result line per id as it happens, one line of progress, and a summary.
import type { CliContext } from '../context.ts';
import { toJson } from '../terminal/json.ts';
import { terminalText } from '../terminal/terminal-text.ts';

export interface ItemResult {
  readonly session_id: string;
  readonly status: string;
  /** Counted as done after a repeated request, which found nothing to do any more: the answer to the one before it was lost. */
  readonly repeated?: boolean;
  /** Where it went. */
  readonly file?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const redrawMs = 200;
const lineMs = 10_000;

export class BatchReport {
  readonly #context: CliContext;
  readonly #total: number;
  readonly #began: number;
  readonly #counts = new Map<string, number>();
  readonly #repeated = new Map<string, number>();
  #lines: string[] = [];
  #finished = 0;
  #shownAt: number;
  #isDrawn = false;

  /** `total`: of distinct ids. */
  constructor(context: CliContext, total: number) {
    this.#context = context;
    this.#total = total;
    this.#began = context.host.now();
    this.#shownAt = this.#began;
  }

  count(status: string): number {
    return this.#counts.get(status) ?? 0;
  }

  /** Whether nothing was told of at all. */
  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Whether there are lines to be written. */
  get hasNews(): boolean {
    return this.#lines.length > 0;
  }

  /** Noted; written by `flush`, so that many that come together are written together. */
  add(result: ItemResult): void {
    const { status } = result;
    this.#counts.set(status, this.count(status) + 1);
    if (result.repeated) this.#repeated.set(status, (this.#repeated.get(status) ?? 0) + 1);
    if (status !== 'duplicate') this.#finished += 1;
    this.#lines.push(this.#context.options.json ? toJson(result) : resultLine(result));
  }

  async flush(): Promise<void> {
    const lines = this.#lines;
    if (lines.length > 0) {
      this.#lines = [];
      await this.#context.stdout.write(`${lines.join('\n')}\n`);
    }
    await this.#showProgress();
  }

  /** A line of talk in the middle of it. */
  async say(line: string): Promise<void> {
    await this.#clear();
    await this.#context.say(line);
  }

  async summarize(): Promise<void> {
    await this.#clear();
    const counts = [...this.#counts].map(([status, count]) => {
      const repeated = this.#repeated.get(status);
      const how = repeated === undefined ? '' : ` (${repeated} of them counted after a repeated request)`;
      return `${count} ${status.replaceAll('_', ' ')}${how}`;
    });
    if (counts.length > 0) await this.#context.say(counts.join(', '));
  }

  /** Where results scroll by on the same terminal, they are the progress. */
  async #showProgress(): Promise<void> {
    const { host, options, stdout, stderr } = this.#context;
    const now = host.now();
    const isLive = stderr.redraws && !stdout.isTerminal;
    if (options.quiet || this.#finished >= this.#total || (stderr.redraws && stdout.isTerminal)) return;
    if (now - this.#shownAt < (isLive ? redrawMs : lineMs)) return;
    this.#shownAt = now;
    const rate = (this.#finished * 1000) / Math.max(1, now - this.#began);
    const left = rate > 0 ? `, ${timeOf((this.#total - this.#finished) / rate)} left` : '';
    const line = `${this.#finished} of ${this.#total}, ${Math.round(rate)} a second${left}`;
    await stderr.write(isLive ? terminalText`\r\x1b[K${line}` : `${line}\n`);
    this.#isDrawn = isLive;
  }

  async #clear(): Promise<void> {
    if (this.#isDrawn) await this.#context.stderr.write(terminalText`\r\x1b[K`);
    this.#isDrawn = false;
  }
}

/** A line each. */
export async function writeResults(results: readonly ItemResult[], context: CliContext): Promise<void> {
  const lines = results.map((result) => (context.options.json ? toJson(result) : resultLine(result)));
  await context.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

export function resultLine({ status, session_id, error }: ItemResult): string {
  return `${status} ${session_id}${status === 'failed' && error ? ` ${error.code}` : ''}`;
}

function timeOf(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 90
    ? `${whole} s`
    : whole < 5400
      ? `${Math.ceil(whole / 60)} min`
      : `${Math.ceil(whole / 3600)} h`;
}
