// A process that store-worker.ts runs in: it takes one order at a time. Not a thread, because a thread cannot be ended, nor the process that
// has it, while it runs in SQLite. To end a reader of SQLite at any moment is safe, and so is a writer: its transaction is taken back.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ParleyError } from '../../service/errors.ts';
import type { StorePlace, WorkerAnswer, WorkerOrder } from './store-worker.ts';

export class StoreProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #isOver = false;

  constructor(file: URL, place: StorePlace) {
    // Nothing that Node was started with is meant for it.
    const bare = { execArgv: [], env: {}, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] as const };
    const options = { ...bare, stdio: [...bare.stdio], serialization: 'advanced' as const };
    const child = fork(fileURLToPath(file), [JSON.stringify(place)], options);
    this.#child = child;
    // It alone keeps no other process alive.
    child.unref();
    child.channel?.unref();
    this.#gone = new Promise((resolve) => {
      const onGone = () => {
        this.#isOver = true;
        resolve();
      };
      // Where it was never started, there is no exit.
      child.once('exit', onGone).once('error', onGone);
    });
    child.on('error', () => {});
  }

  /** True once it ends, too: it takes no more orders. */
  get isOver(): boolean {
    return this.#isOver;
  }

  ask(order: WorkerOrder): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onMessage = (answer: WorkerAnswer) => {
        this.#child.off('message', onMessage);
        deliver(answer, resolve, reject);
      };
      if (this.#isOver) throw broken();
      this.#child.on('message', onMessage);
      void this.#gone.then(() => reject(broken()));
      // A failure to send is that of a process that is gone, or ends so.
      this.#child.send(order, (error) => error && void this.end());
    });
  }

  /** Resolves when the process has ended, whatever it was doing. */
  async end(): Promise<void> {
    this.#isOver = true;
    // Without this, nothing keeps a process alive that waits for the end alone, and it ends in the middle of the wait.
    this.#child.ref();
    this.#child.kill('SIGKILL');
    await this.#gone;
  }
}

function deliver(
  answer: WorkerAnswer,
  resolve: (value: unknown) => void,
  reject: (error: unknown) => void,
): void {
  if ('value' in answer) resolve(answer.value);
  else reject(new ParleyError(answer.code, answer.message, answer.facts));
}

function broken(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'A process that reads the store for this one has ended.', {
    hint: 'Try again in a moment.',
    retryAfter: 2,
  });
}
