// The thread in which replies are checked, within a time: a regular expression of a schema may take for ever, and a blocked main thread
// would see no signal. Several schemas may share it; it starts with the first check.
import { Worker } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import type { SchemaAnswer, SchemaOrder } from './schema-thread.ts';

/** How a check is done. */
export interface CheckLimits {
  /** The longest check of one reply. The first answer of a thread may take as long as starts usually do at most. */
  readonly milliseconds: number;
  /** The file of the thread. It lies beside the chunk of the build that contains this code. */
  readonly thread: URL;
}

const usualLimits: CheckLimits = {
  milliseconds: 10_000,
  thread: new URL('./schema-thread.cjs', import.meta.url),
};
const mostMegabytes = 1024;

export class CheckingThread {
  readonly #limits: CheckLimits;
  readonly #signal: AbortSignal;
  #thread: Worker | null = null;
  /** True once the thread has answered. */
  #isReady = false;
  /** Ends when the last check that was asked for ends. */
  #last: Promise<unknown> = Promise.resolve();

  /** `signal` ends a check, which then rejects with its reason. */
  constructor(signal: AbortSignal, limits: CheckLimits = usualLimits) {
    this.#signal = signal;
    this.#limits = limits;
  }

  /** The answer, after the answers to the orders that were given before. */
  ask(order: SchemaOrder): Promise<SchemaAnswer> {
    const answer = this.#last.then(() => this.#run(order));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #run(order: SchemaOrder): Promise<SchemaAnswer> {
    const { thread: file } = this.#limits;
    const { milliseconds } = this.#isReady ? this.#limits : usualLimits;
    const signal = this.#signal;
    signal.throwIfAborted();
    this.#thread ??= startThread(file);
    const thread = this.#thread;
    const removals: (() => void)[] = [];
    try {
      const answer = await new Promise<SchemaAnswer>((resolve, reject) => {
        const end = () => {
          this.#thread = null;
          this.#isReady = false;
          void thread.terminate();
        };
        const stop = () => {
          end();
          reject(signal.reason);
        };
        const giveUp = (what: string) => {
          end();
          const fault = { place: '', reason: `it cannot be checked: ${what}` };
          resolve(order.reply === null ? { kind: 'refused', fault } : { kind: 'mismatch', faults: [fault] });
        };
        const onError = (error: NodeJS.ErrnoException) => {
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') giveUp(`it takes more than ${mostMegabytes} MiB`);
          else if (error instanceof RangeError) giveUp(error.message);
          else {
            end();
            reject(unstartable(error));
          }
        };
        const timer = setTimeout(giveUp, milliseconds, `it takes longer than ${milliseconds / 1000} s`);
        signal.addEventListener('abort', stop);
        // Only these listeners are removed, because Node has listeners of its own on the worker.
        thread.on('message', resolve).on('error', onError);
        removals.push(
          () => clearTimeout(timer),
          () => signal.removeEventListener('abort', stop),
          () => thread.off('message', resolve).off('error', onError),
        );
        thread.postMessage(order);
      });
      this.#isReady = this.#thread === thread;
      return answer;
    } finally {
      for (const action of removals) action();
    }
  }
}

/** The thread alone keeps no process alive. */
function startThread(file: URL): Worker {
  const thread = new Worker(file, {
    // Options of the main process are not for the thread.
    argv: [],
    execArgv: [],
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: mostMegabytes },
  });
  thread.unref();
  return thread;
}

function unstartable(error: Error): ParleyError {
  if (isOutOfFiles(error)) {
    const message = 'The check of replies cannot be started: no more files may be opened.';
    return new ParleyError('UNAVAILABLE', message, { hint: outOfFilesHint });
  }
  return new ParleyError('INTERNAL_ERROR', `The check of replies cannot be started: ${error.message}.`, {
    hint: 'Is the installation whole? npm install -g parley-cli repairs it.',
  });
}
