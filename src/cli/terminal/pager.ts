// Sends output that is longer than the screen through a pager, as `git` and `gh` do. The pager gets exactly the text that the terminal would
// get, so foreign text is already filtered. It is not a failure if the pager ends early.
import type { ChildProcessByStdio } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { CliContext } from '../context.ts';
import { Interruption } from '../interruption.ts';
import { ForwardingOutput } from './forwarding-output.ts';
import { createOutput, type Output } from './output.ts';
import type { Environment } from './style.ts';
import { type OutputText, sequencesOf } from './terminal-text.ts';

/** `F`: leave if the text fits on one screen; `R`: show colours; `X`: leave the text on the screen. */
const lessDefaults = 'FRX';

/** Variables that a pager does not get. */
const secrets: readonly string[] = ['PARLEY_API_KEY', 'PARLEY_STORE'];

export type PagedContext = Pick<CliContext, 'stdout' | 'options' | 'host' | 'signal' | 'say'>;

type PagerProcess = ChildProcessByStdio<Writable, null, null>;

/** Holds the text while it fits on the screen, and opens the pager when it does not. */
export class PagedOutput extends ForwardingOutput {
  readonly #command: string;
  readonly #context: PagedContext;
  readonly #stop = new AbortController();
  /** The text so far, while it fits on the screen. */
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
    this.#rows += rowsOf(sequencesOf(text), this.columns());
    if (this.#rows < (this.stream.rows ?? 24)) return;
    await this.#open();
  }

  /** Writes text that fits on the screen to the terminal. Otherwise waits until the user leaves the pager. */
  async end(): Promise<void> {
    if (this.#pager === null) {
      for (const text of this.#held) await this.target.write(text);
      return;
    }
    this.#pager.stdin.end();
    const status = await this.#pager.ended;
    if (status !== 126 && status !== 127) return;
    await this.#context.say(
      `The pager ${this.#command} cannot be run. Set PARLEY_PAGER to another pager, or to nothing to turn it off.`,
    );
  }

  /** Waits for the end of the pager and removes the listeners. Must be called in any case. */
  async close(): Promise<void> {
    this.#pager?.stdin.destroy();
    await this.#pager?.ended;
    this.#release();
  }

  async #open(): Promise<void> {
    const { host, signal } = this.#context;
    await this.target.finish();
    const env = pagerEnvironment(host.env);
    // The module is loaded late, because it takes 4 ms and only a pager needs it.
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
    // The pager handles Ctrl-C itself.
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

/** The environment of the pager. */
function pagerEnvironment(env: Environment): Environment {
  const others = Object.entries(env).filter(([name]) => !secrets.includes(name));
  return { LESS: lessDefaults, LV: '-c', ...Object.fromEntries(others) };
}
