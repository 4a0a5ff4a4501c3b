// Runs the real binary as a shell or a terminal does, in a place of its own: a configuration, a data directory and a backend. It needs the build.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { RawDatabase } from './raw-database.ts';
import { type ScreenOptions, TerminalScreen } from './terminal-screen.ts';

/** The arguments of node that run `parley`. */
export const program = fileURLToPath(new URL('../../bin/parley.js', import.meta.url));
const executable = process.env['PARLEY_TEST_PROGRAM'];
/** The command that runs `parley`: Node and the build, or a single executable that the environment names. */
export const programWords: readonly [string, ...string[]] = executable
  ? [executable]
  : [process.execPath, program];
const [command, ...firstWords] = programWords;
/** The library for SQLite of the whole test run. */
const forcedDriver = process.env['PARLEY_SQLITE_DRIVER']
  ? { PARLEY_SQLITE_DRIVER: process.env['PARLEY_SQLITE_DRIVER'] }
  : {};
const build = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));

export interface Outcome extends End {
  readonly bytes: Buffer;
  readonly out: string;
  readonly err: string;
}

export interface End {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

export type Variables = Readonly<Record<string, string | undefined>>;

export interface RunOptions {
  /** Passed through a socket; several chunks one by one, each when the reader reads. Without it, stdin is /dev/null. */
  readonly stdin?: string | Uint8Array | readonly Uint8Array[];
  readonly env?: Variables;
  /** An open file instead of a pipe: its contents are not in the outcome. */
  readonly stdout?: number;
  readonly cwd?: string;
}

/** The text to type when another text has appeared. */
export interface Typing {
  readonly after: string;
  readonly keys: string;
}

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

/** The empty environment of a person: configuration, data and working directory. */
export class Place {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'parley-place-')));
  readonly configDirectory: string;
  readonly dataDirectory: string;
  readonly configFile: string;
  readonly storeFile: string;
  readonly #bin = join(this.path, 'bin');

  /** Its directories may be elsewhere. */
  constructor(directories: { readonly config?: string; readonly data?: string } = {}) {
    this.configDirectory = directories.config ?? join(this.path, 'config');
    this.dataDirectory = directories.data ?? join(this.path, 'data');
    this.configFile = join(this.configDirectory, 'config.json');
    this.storeFile = join(this.dataDirectory, 'parley.db');
    if (!existsSync(build)) throw new Error('There is no build. Run: npm run build');
    mkdirSync(this.#bin);
    const started = join(this.#bin, 'parley');
    writeFileSync(started, `#!/bin/sh\nexec ${programWords.map((word) => `'${word}'`).join(' ')} "$@"\n`);
    chmodSync(started, 0o755);
  }

  /** Runs `parley` to its end, without a terminal, even if the tests have one. */
  parley(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return outcomeOf(this.spawn(args, options));
  }

  /** Runs `parley`, which must succeed, and returns its stdout. */
  async output(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { status, out, err } = await this.parley(args, options);
    if (status !== 0) throw new Error(`parley ${args.join(' ')} ended with ${status}: ${err}`);
    return out;
  }

  /** `data` of the one body that a command prints with `--json`. */
  async answer<T>(args: readonly string[], options: RunOptions = {}): Promise<T> {
    return JSON.parse(await this.output([...args, '--json'], options)).data;
  }

  /** Starts `parley`. The caller reads its output and awaits its end. */
  spawn(args: readonly string[], { stdin, env = {}, stdout, cwd }: RunOptions = {}): ChildProcess {
    const child = spawn(command, [...firstWords, ...args], {
      ...this.#environment(env),
      ...(cwd !== undefined && { cwd }),
      stdio: [stdin === undefined ? 'ignore' : 'pipe', stdout ?? 'pipe', 'pipe'],
    });
    if (child.stdin !== null) void feed(child.stdin, stdin ?? []);
    return child;
  }

  async newSession(): Promise<string> {
    return (await this.output(['sessions', 'create'])).trim();
  }

  /** The rows of a query on the store, while no process of this place writes. */
  rows<Row>(sql: string): readonly Row[] {
    const database = new RawDatabase(this.storeFile);
    try {
      return database.prepare<unknown[], Row>(sql).all();
    } finally {
      database.close();
    }
  }

  /** The caller controls stdin and signals. */
  start(args: readonly string[], env: Variables = {}): Running {
    return spawn(command, [...firstWords, ...args], {
      ...this.#environment(env),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Runs a bash script with the command `parley` to its end. */
  shell(script: string, env: Variables = {}): Promise<Outcome> {
    const child = spawn('bash', ['-c', script], {
      ...this.#environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return outcomeOf(child);
  }

  /** Runs a bash script in a terminal of its own. The output of the terminal is `out`, with CRLF as LF. */
  async terminal(script: string, env: Variables = {}, typing: readonly Typing[] = []): Promise<Outcome> {
    const child = spawn('script', ['-qec', `bash -c '${script.replaceAll("'", "'\\''")}'`, '/dev/null'], {
      ...this.#environment({ TERM: 'xterm-256color', SHELL: '/bin/sh', ...env }),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const rest = [...typing];
    let shown = '';
    child.stdout.on('data', (chunk: Buffer) => {
      shown += chunk;
      const next = rest[0];
      if (next === undefined || !shown.includes(next.after)) return;
      rest.shift();
      child.stdin.write(next.keys);
    });
    const outcome = await outcomeOf(child);
    return { ...outcome, out: outcome.out.replaceAll('\r\n', '\n') };
  }

  /** Runs `parley` in an interactive terminal of its own. */
  screen(args: readonly string[], options: Partial<ScreenOptions> = {}): TerminalScreen {
    const { env } = this.#environment(options.env ?? {});
    return new TerminalScreen(command, [...firstWords, ...args], { cwd: this.path, ...options, env });
  }

  /** Runs a shell with job control and the command `parley` in an interactive terminal. */
  shellScreen(options: Partial<ScreenOptions> = {}): TerminalScreen {
    const { env } = this.#environment({ PS1: 'shell$ ', ...options.env });
    return new TerminalScreen('bash', ['--norc', '--noprofile', '-i'], { cwd: this.path, ...options, env });
  }

  /** Runs a line of bash, such as `exec parley`, in an interactive terminal. */
  lineScreen(line: string, options: Partial<ScreenOptions> = {}): TerminalScreen {
    const { env } = this.#environment(options.env ?? {});
    return new TerminalScreen('bash', ['-c', line], { cwd: this.path, ...options, env });
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** The environment of the program, without that of the tests. */
  get env(): Variables {
    return {
      PATH: `${this.#bin}${delimiter}${process.env['PATH']}`,
      HOME: this.path,
      LC_ALL: 'C.UTF-8',
      PARLEY_CONFIG_DIR: this.configDirectory,
      PARLEY_DATA_DIR: this.dataDirectory,
      ...forcedDriver,
    };
  }

  #environment(env: Variables) {
    return { cwd: this.path, detached: true, env: { ...this.env, ...env } };
  }
}

/** Rejects if Node printed a warning. */
export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  const [status, signal] = await once(child, 'close');
  const [bytes, errorBytes] = [Buffer.concat(out), Buffer.concat(err)];
  const warning = /^\(node:\d+\) .*Warning: .*/m.exec(errorBytes.toString());
  if (warning !== null) throw new Error(`The program made Node warn: ${warning[0]}`);
  return { status, signal, bytes, out: bytes.toString(), err: errorBytes.toString() };
}

/** Resolves with the end of a process, even if its output is unread. */
export async function endOf(child: ChildProcess): Promise<End> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { status: child.exitCode, signal: child.signalCode };
}

async function feed(stream: Writable, stdin: string | Uint8Array | readonly Uint8Array[]): Promise<void> {
  // A command may end before it has read everything.
  stream.on('error', () => {});
  const chunks = typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin;
  for (const chunk of chunks) {
    await new Promise<void>((resolve) => stream.write(chunk, () => resolve()));
    if (chunks.length > 1) await delay(10);
  }
  stream.end();
}
