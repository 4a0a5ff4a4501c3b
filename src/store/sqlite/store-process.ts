// A process that runs store-worker.ts. It takes one order at a time. It is not a thread, because neither a thread inside SQLite nor the
// process of that thread can be ended. A process that uses SQLite may be ended at any moment: its open transaction is rolled back.
import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import type { StorePlace, WorkerAnswer, WorkerMessage, WorkerOrder } from './store-worker.ts';

/**
 * The priority of the server is 0, that of a read that has just begun 5 (store-worker.ts). At 19 a read hardly runs beside a busy
 * program.
 */
const priorityOfSlowReads = 10;

/** The caller of an order that has no answer yet. */
interface Caller {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class StoreProcess {
  /** Resolves when the process takes orders or has ended. */
  readonly ready: Promise<void>;
  /** Null if the system refused to start the process. */
  readonly #child: ChildProcess | null;
  readonly #ended: Promise<void>;
  #isReady = false;
  #isOver = false;
  #startFailure: unknown = null;
  #caller: Caller | null = null;

  constructor(file: URL, place: StorePlace) {
    this.#child = this.#start(file, place);
    const child = this.#child;
    // The child and its channel do not keep this process alive.
    child?.unref();
    child?.channel?.unref();
    this.#ended = new Promise((resolve) => {
      const onEnd = (failure: unknown = null) => {
        this.#isOver = true;
        this.#startFailure ??= failure;
        this.#caller?.reject(this.#unavailable());
        resolve();
      };
      if (child === null) onEnd();
      // A process that never started emits `error` and no `exit`.
      child?.once('exit', () => onEnd()).on('error', onEnd);
    });
    this.ready = new Promise((resolve) => {
      void this.#ended.then(resolve);
      child?.on('message', (message: WorkerMessage) => {
        if (message === 'ready') {
          this.#isReady = true;
          resolve();
        } else this.#deliver(message);
      });
    });
  }

  /** True when the process takes no more orders, because it has ended or is about to end. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sends an order and resolves with its result. Rejects with the worker's error, or with `UNAVAILABLE` if the process ends. */
  async ask(order: WorkerOrder): Promise<unknown> {
    await this.ready;
    const child = this.#child;
    if (this.#isOver || child === null) throw this.#unavailable();
    return new Promise((resolve, reject) => {
      this.#caller = { resolve, reject };
      // Sending fails if the process has ended. For any other failure the process is ended here.
      child.send(order, (error) => error && void this.end());
    });
  }

  /** Lowers the priority of the process, because its read is slow. */
  lowerPriority(): void {
    try {
      if (this.#child?.pid !== undefined) setPriority(this.#child.pid, priorityOfSlowReads);
    } catch {}
  }

  /** Ends the process at once, and resolves when it has ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    // The child was unreferenced. A process that waits for this end alone would otherwise exit before it.
    this.#child?.ref();
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  #start(file: URL, place: StorePlace): ChildProcess | null {
    try {
      // The child gets neither the options of this Node nor the environment.
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
    const caller = this.#caller;
    this.#caller = null;
    if ('value' in answer) caller?.resolve(answer.value);
    else caller?.reject(new ParleyError(answer.code, answer.message, answer.facts));
  }

  #unavailable(): ParleyError {
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
