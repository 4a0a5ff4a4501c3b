// A thread that store-worker.ts runs in: it takes one order at a time.
import { Worker } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import type { StorePlace, ThreadAnswer, ThreadOrder } from './store-worker.ts';

export class StoreThread {
  readonly #worker: Worker;
  #isOver = false;

  constructor(file: URL, place: StorePlace) {
    // Nothing that Node was started with is meant for it.
    const bare = { argv: [], execArgv: [], env: {}, stdout: true, stderr: true };
    this.#worker = new Worker(file, { ...bare, workerData: place });
    // The thread alone keeps no process alive.
    this.#worker.unref();
    this.#worker.on('error', () => {});
    this.#worker.once('exit', () => {
      this.#isOver = true;
    });
  }

  /** True once it ends, too: it takes no more orders. */
  get isOver(): boolean {
    return this.#isOver;
  }

  ask(order: ThreadOrder): Promise<unknown> {
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      let reason = 'it was ended';
      const settle = (action: () => void) => {
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        action();
      };
      const onMessage = (answer: ThreadAnswer) => settle(() => deliver(answer, resolve, reject));
      const onError = (error: Error) => {
        reason = error.message;
      };
      const onExit = () => settle(() => reject(broken(reason)));
      if (this.#isOver) throw broken(reason);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      worker.postMessage(order);
    });
  }

  /** Resolves when the thread has ended: what runs in SQLite runs to its end first. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#worker.terminate();
  }
}

function deliver(
  answer: ThreadAnswer,
  resolve: (value: unknown) => void,
  reject: (error: unknown) => void,
): void {
  if ('value' in answer) resolve(answer.value);
  else reject(new ParleyError(answer.code, answer.message, answer.facts));
}

function broken(reason: string): ParleyError {
  return new ParleyError('INTERNAL_ERROR', `A thread of the store failed: ${reason}.`);
}
