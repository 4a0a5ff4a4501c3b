// The real binary, run as a shell or a terminal runs it, in a place of its own: a configuration, a data directory and a home
// that nobody else has. It needs the build.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ScreenOptions, TerminalScreen } from './terminal-screen.ts';

const parley = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));
const build = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));

export interface Outcome {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly bytes: Buffer;
  readonly out: string;
  readonly err: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

export interface RunOptions {
  /** Given through a socket; several pieces one by one, each once the reader reads. Without it, stdin is /dev/null. */
  readonly stdin?: string | Uint8Array | readonly Uint8Array[];
  readonly env?: Variables;
}

/** What is typed once a text has appeared. */
export interface Typing {
  readonly after: string;
  readonly keys: string;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** Where a person works: nothing is in it at first. */
export class Place {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'parley-acceptance-')));
  readonly configDirectory = join(this.path, 'config');
  readonly dataDirectory = join(this.path, 'data');
  readonly configFile = join(this.configDirectory, 'config.json');
  readonly storeFile = join(this.dataDirectory, 'parley.db');
  readonly #bin = join(this.path, 'bin');

  constructor() {
    if (!existsSync(build)) throw new Error('There is no build. Run: npm run build');
    mkdirSync(this.#bin);
    const command = join(this.#bin, 'parley');
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${parley}' "$@"\n`);
    chmodSync(command, 0o755);
  }

  /** Runs `parley` to its end. It has no terminal, also where the tests have one. */
  async parley(args: readonly string[], { stdin, env = {} }: RunOptions = {}): Promise<Outcome> {
    const child = spawn(process.execPath, [parley, ...args], {
      ...this.#surroundings(env),
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<Writable | null, Readable, Readable>;
    const outcome = outcomeOf(child);
    if (child.stdin !== null) await feed(child.stdin, stdin ?? []);
    return outcome;
  }

  /** The same for what must succeed: what it wrote to stdout. */
  async output(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { status, out, err } = await this.parley(args, options);
    if (status !== 0) throw new Error(`parley ${args.join(' ')} ended with ${status}: ${err}`);
    return out;
  }

  /** `data` of the one body that a command prints with `--json`. */
  async answer<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    return JSON.parse(await this.output([...args, '--json'], options)).data;
  }

  /** Leaves stdin open, and signals, to whoever started it. */
  start(args: readonly string[], env: Variables = {}): Running {
    return spawn(process.execPath, [parley, ...args], {
      ...this.#surroundings(env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Runs a script of bash to its end, with `parley` as a command in it. */
  shell(script: string, env: Variables = {}): Promise<Outcome> {
    const child = spawn('bash', ['-c', script], {
      ...this.#surroundings(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return outcomeOf(child);
  }

  /** Runs a script of bash in a terminal of its own. What is shown there comes back as `out`, with CRLF as LF. */
  async terminal(script: string, env: Variables = {}, typing: readonly Typing[] = []): Promise<Outcome> {
    const child = spawn('script', ['-qec', `bash -c '${script.replaceAll("'", "'\\''")}'`, '/dev/null'], {
      ...this.#surroundings({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const rest = [...typing];
    let shown = '';
    child.stdout.on('data', (piece: Buffer) => {
      shown += piece;
      const next = rest[0];
      if (next === undefined || !shown.includes(next.after)) return;
      rest.shift();
      child.stdin.write(next.keys);
    });
    const outcome = await outcomeOf(child);
    return { ...outcome, out: outcome.out.replaceAll('\r\n', '\n') };
  }

  /** Runs `parley` in a terminal of its own, to be typed at and looked at. */
  screen(args: readonly string[], options: Partial<ScreenOptions> = {}): TerminalScreen {
    const { env } = this.#surroundings(options.env ?? {});
    return new TerminalScreen(process.execPath, [parley, ...args], { cwd: this.path, ...options, env });
  }

  /** The same with a shell that has jobs, and `parley` as a command in it. */
  shellScreen(options: Partial<ScreenOptions> = {}): TerminalScreen {
    const { env } = this.#surroundings({ PS1: 'shell$ ', ...options.env });
    return new TerminalScreen('bash', ['--norc', '--noprofile', '-i'], { cwd: this.path, ...options, env });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  #surroundings(env: Variables) {
    return {
      cwd: this.path,
      detached: true,
      env: {
        PATH: `${this.#bin}${delimiter}${process.env['PATH']}`,
        HOME: this.path,
        LC_ALL: 'C.UTF-8',
        PARLEY_CONFIG_DIR: this.configDirectory,
        PARLEY_DATA_DIR: this.dataDirectory,
        ...env,
      },
    };
  }
}

export async function outcomeOf(
  child: ChildProcessByStdio<Writable | null, Readable, Readable>,
): Promise<Outcome> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => out.push(piece));
  child.stderr.on('data', (piece: Buffer) => err.push(piece));
  const [status] = await once(child, 'close');
  const bytes = Buffer.concat(out);
  return { status, bytes, out: bytes.toString(), err: Buffer.concat(err).toString() };
}

async function feed(stream: Writable, stdin: string | Uint8Array | readonly Uint8Array[]): Promise<void> {
  // A command that ends before it has read all is no failure of the test's.
  stream.on('error', () => {});
  const pieces = typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin;
  for (const piece of pieces) {
    await new Promise<void>((resolve) => stream.write(piece, () => resolve()));
    if (pieces.length > 1) await delay(10);
  }
  stream.end();
}
