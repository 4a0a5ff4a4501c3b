// A configuration and a data directory of their own, and the real program in processes that use them: run to its end, or held
// so that a test can signal it in the middle.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';

export interface Outcome {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** What stdin holds; without it there is none. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** An open file instead of a pipe. */
  readonly stdout?: number;
  readonly cwd?: string;
}

export class ParleyPlace {
  readonly root: string;
  readonly config: string;
  readonly data: string;
  readonly program: string;

  /** `repository`: where bin and dist are. */
  constructor(repository: string, directories: { readonly config?: string; readonly data?: string } = {}) {
    this.program = join(repository, 'bin', 'parley.js');
    this.root = mkdtempSync(join(tmpdir(), 'parley-place-'));
    this.config = directories.config ?? join(this.root, 'config');
    this.data = directories.data ?? join(this.root, 'data');
    mkdirSync(join(this.root, 'home'));
  }

  get storePath(): string {
    return join(this.data, 'parley.db');
  }

  /** Nothing of the environment that the tests run in. */
  get env(): Readonly<Record<string, string | undefined>> {
    return {
      PATH: process.env['PATH'],
      HOME: join(this.root, 'home'),
      PARLEY_CONFIG_DIR: this.config,
      PARLEY_DATA_DIR: this.data,
    };
  }

  spawn(words: readonly string[], { input, env, stdout, cwd }: RunOptions = {}): ChildProcess {
    const child = spawn(process.execPath, [this.program, ...words], {
      stdio: [input === undefined ? 'ignore' : 'pipe', stdout ?? 'pipe', 'pipe'],
      cwd,
      env: { ...this.env, ...env },
    });
    // It may end, or be killed, before it has read its message.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    return child;
  }

  async run(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const child = this.spawn(words, options);
    const written = [collected(child.stdout), collected(child.stderr)] as const;
    const end = await ending(child);
    return { ...end, stdout: await written[0], stderr: await written[1] };
  }

  /** Runs what has to succeed, and returns what it wrote to stdout. */
  async output(words: readonly string[], options: RunOptions = {}): Promise<string> {
    const { status, stdout, stderr } = await this.run(words, options);
    if (status !== 0) throw new Error(`parley ${words.join(' ').slice(0, 80)}: exit ${status}\n${stderr}`);
    return stdout;
  }

  async newSession(): Promise<string> {
    return (await this.output(['sessions', 'create'])).trim();
  }

  /** All rows of a query on the store itself; only while no process of this place writes. */
  rows<Row>(sql: string, ...values: readonly unknown[]): readonly Row[] {
    const database = new Database(this.storePath);
    try {
      return database.prepare<unknown[], Row>(sql).all(...values);
    } finally {
      database.close();
    }
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export type Ending = Pick<Outcome, 'status' | 'signal'>;

/** Of a process whose output may still be unread. */
export function ending(child: ChildProcess): Promise<Ending> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve({ status: child.exitCode, signal: child.signalCode });
  }
  return new Promise((resolve, reject) => {
    child.once('exit', (status, signal) => resolve({ status, signal }));
    child.once('error', reject);
  });
}

async function collected(stream: NodeJS.ReadableStream | null): Promise<string> {
  let text = '';
  stream?.setEncoding('utf8');
  for await (const piece of stream ?? []) text += piece;
  return text;
}
