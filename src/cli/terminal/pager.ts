// Output that is longer than the screen goes through a pager, as `git` and `gh` do it. The pager gets exactly the text that the terminal
// would get, so foreign text is filtered before. A pager that ends early is no failure.
import type { ChildProcessByStdio } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { CliContext } from '../context.ts';
import { Interruption } from '../interruption.ts';
import { ForwardingOutput } from './forwarding-output.ts';
import { createOutput, type Output } from './output.ts';
import { pagerEnvironment } from './pager-command.ts';
import { type OutputText, shown } from './terminal-text.ts';

export type PagedContext = Pick<CliContext, 'stdout' | 'options' | 'host' | 'signal' | 'say'>;

type PagerProcess = ChildProcessByStdio<Writable, null, null>;

/** Holds the text while it fits on the screen, and opens the pager when it does not. */
export class PagedOutput extends ForwardingOutput {
  readonly #command: string;
  readonly #context: PagedContext;
  readonly #stop = new AbortController();
  /** What fits on the screen so far. */
  #held: OutputText[] = [];
  #rows = 0;
  #pager: {
    readonly output: Output;
    readonly stdin: Writable;
    readonly ended: Promise<number | null>;
  } | null = null;
  #release = () => {};

  constructor(command: string, context: PagedContext) {
    super(context.stdout);
    this.#command = command;
    this.#context = context;
  }

  override get gone(): AbortSignal {
    return this.#pager?.output.gone ?? this.target.gone;
  }

  async write(text: OutputText): Promise<void> {
    if (this.#pager !== null) return this.#pager.output.write(text);
    this.#held.push(text);
    this.#rows += rowsOf(shown(text), this.columns());
    if (this.#rows < (this.stream.rows ?? 24)) return;
    await this.#open();
  }

  /** Writes what is still held to the terminal, or waits until the person has left the pager. */
  async end(): Promise<void> {
    if (this.#pager === null) {
      for (const text of this.#held) await this.target.write(text);
      return;
    }
    this.#pager.stdin.end();
    const status = await this.#pager.ended;
    if (status !== 126 && status !== 127) return;
    await this.#context.say(
      `The pager ${this.#command} cannot be run. PARLEY_PAGER names another; an empty one turns it off.`,
    );
  }

  /** Takes the terminal back, whatever happened. */
  async close(): Promise<void> {
    this.#pager?.stdin.destroy();
    await this.#pager?.ended;
    this.#release();
  }

  async #open(): Promise<void> {
    const { host, signal } = this.#context;
    await this.target.finish();
    const env = pagerEnvironment(host.env);
    // Only a pager needs it. A list in a pipe would start 4 ms later with it.
    const { spawn } = await import('node:child_process');
    const child: PagerProcess = spawn(this.#command, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env,
    });
    const ended = new Promise<number | null>((resolve) => {
      child.on('error', () => resolve(null));
      child.on('exit', resolve);
    });
    const stopPager = () => {
      if (!(signal.reason instanceof Interruption) || signal.reason.scope !== 'process') return;
      this.#stop.abort(signal.reason);
      child.kill('SIGTERM');
    };
    signal.addEventListener('abort', stopPager);
    // Ctrl-C is a key of the pager.
    const releaseInterrupts = host.job.onInterrupt(() => {});
    this.#release = () => {
      releaseInterrupts();
      signal.removeEventListener('abort', stopPager);
    };
    const output = outputTo(child.stdin, this.target, this.#stop.signal);
    this.#pager = { output, stdin: child.stdin, ended };
    for (const text of this.#held.splice(0)) await output.write(text);
  }
}

/** The pipe to the pager as an output with the width and the colours of the terminal behind it. */
function outputTo(stdin: Writable, terminal: Output, signal: AbortSignal): Output {
  const depth = [1, 4, 8, 24][terminal.colour] ?? 1;
  const properties = { isTTY: true, columns: terminal.columns(), getColorDepth: () => depth };
  const stream = Object.assign(stdin, properties);
  return createOutput(stream, { role: 'data', env: {}, noColor: false, signal });
}

function rowsOf(text: string, columns: number): number {
  const lines = text.replace(/\x1b\[[\d;]*m/g, '').split('\n');
  const rows = lines.map((line) => Math.max(1, Math.ceil(line.length / columns)));
  return rows.reduce((sum, count) => sum + count, 0) - 1;
}
