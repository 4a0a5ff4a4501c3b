// A process that store-worker.ts runs in: it takes one order at a time. Not a thread, because a thread cannot be ended, nor the process that
// has it, while it runs in SQLite. To end a reader of SQLite at any moment is safe, and so is a writer: its transaction is taken back.
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import type { StorePlace, WorkerAnswer, WorkerMessage, WorkerOrder } from './store-worker.ts';

/** The server has 0, a read that has just begun 5 (store-worker.ts). At 19 a read would hardly run beside a busy program. */
const priorityOfSlowReads = 10;

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class StoreProcess {
  /** Resolves when the process takes orders, or has ended. */
  readonly ready: Promise<void>;
  /** Null where the system has refused to start one. */
  readonly #child: ChildProcess | null;
  readonly #gone: Promise<void>;
  #isReady = false;
  #isOver = false;
  #startFailure: unknown = null;
  #asked: Asked | null = null;

  constructor(file: URL, place: StorePlace) {
    this.#child = this.#start(file, place);
    const child = this.#child;
    // It alone keeps no other process alive.
    child?.unref();
    child?.channel?.unref();
    this.#gone = new Promise((resolve) => {
      const onGone = (failure: unknown = null) => {
        this.#isOver = true;
        this.#startFailure ??= failure;
        this.#asked?.reject(this.#broken());
        resolve();
      };
      if (child === null) onGone();
      // Where it was never started, there is no exit.
      child?.once('exit', () => onGone()).on('error', onGone);
    });
    this.ready = new Promise((resolve) => {
      void this.#gone.then(resolve);
      child?.on('message', (message: WorkerMessage) => {
        if (message === 'ready') {
          this.#isReady = true;
          resolve();
        } else this.#deliver(message);
      });
    });
  }

  /** True once it ends, too: it takes no more orders. */
  get isOver(): boolean {
    return this.#isOver;
  }

  async ask(order: WorkerOrder): Promise<unknown> {
    await this.ready;
    const child = this.#child;
    if (this.#isOver || child === null) throw this.#broken();
    return new Promise((resolve, reject) => {
      this.#asked = { resolve, reject };
      // A failure to send is that of a process that is gone, or ends so.
      child.send(order, (error) => error && void this.end());
    });
  }

  /** From here on it gets far less of the processors than what has not run so long. */
  giveWay(): void {
    try {
      if (this.#child?.pid !== undefined) setPriority(this.#child.pid, priorityOfSlowReads);
    } catch {}
  }

  /** Resolves when the process has ended, whatever it was doing. */
  async end(): Promise<void> {
    this.#isOver = true;
    // Without this, nothing keeps a process alive that waits for the end alone, and it ends in the middle of the wait.
    this.#child?.ref();
    this.#child?.kill('SIGKILL');
    await this.#gone;
  }

  #start(file: URL, place: StorePlace): ChildProcess | null {
    try {
      // Nothing that Node was started with is meant for it.
      return fork(fileURLToPath(file), [JSON.stringify(place)], {
        execArgv: [],
        env: {},
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        serialization: 'advanced',
      });
    } catch (error) {
      this.#startFailure = error;
      return null;
    }
  }

  #deliver(answer: WorkerAnswer): void {
    const asked = this.#asked;
    this.#asked = null;
    if ('value' in answer) asked?.resolve(answer.value);
    else asked?.reject(new ParleyError(answer.code, answer.message, answer.facts));
  }

  #broken(): ParleyError {
    const cause = this.#startFailure;
    const what = this.#isReady ? 'has ended' : 'cannot be started';
    const fewer = 'Fewer requests at a time, or more memory and processes for the server, may help.';
    return new ParleyError('UNAVAILABLE', `A process of the server that reads its store ${what}.`, {
      hint: isOutOfFiles(cause) ? outOfFilesHint : `Try again in a moment. ${fewer}`,
      retryAfter: 2,
      cause,
    });
  }
}
