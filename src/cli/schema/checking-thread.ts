// Checks replies in a thread with a time limit, because a regular expression of a schema may run forever and block signals. Several schemas may
// share the thread. It starts with the first check.
import type { Worker } from 'node:worker_threads';
import { ParleyError } from '../../service/errors.ts';
import { isOutOfFiles, outOfFilesHint } from '../../system/file-errors.ts';
import { startThread } from '../../system/program-thread.ts';
import type { SchemaRequest, SchemaResponse } from './schema-thread.ts';

/** The limits of a check. */
export interface CheckLimits {
  /** The longest check of one reply. The first response of a thread has the default limit, because the start takes time. */
  readonly milliseconds: number;
  /** The file of the thread. In the build, it is beside the chunk that contains this code. */
  readonly thread: URL;
}

const defaultLimits: CheckLimits = {
  milliseconds: 10_000,
  thread: new URL('./schema-thread.cjs', import.meta.url),
};
const maxMegabytes = 1024;

export class CheckingThread {
  readonly #limits: CheckLimits;
  readonly #signal: AbortSignal;
  #thread: Worker | null = null;
  /** True once the thread has responded. */
  #isReady = false;
  /** Resolves when the last requested check ends. */
  #last: Promise<unknown> = Promise.resolve();

  /** `signal` stops a check, which then rejects with its reason. */
  constructor(signal: AbortSignal, limits: CheckLimits = defaultLimits) {
    this.#signal = signal;
    this.#limits = limits;
  }

  /** Sends a request after all earlier ones have been answered. */
  send(request: SchemaRequest): Promise<SchemaResponse> {
    const response = this.#last.then(() => this.#run(request));
    this.#last = response.catch(() => {});
    return response;
  }

  async #run(request: SchemaRequest): Promise<SchemaResponse> {
    const { thread: file } = this.#limits;
    const { milliseconds } = this.#isReady ? this.#limits : defaultLimits;
    this.#signal.throwIfAborted();
    this.#thread ??= startThread(file, { resourceLimits: { maxOldGenerationSizeMb: maxMegabytes } });
    const thread = this.#thread;
    const response = await this.#responseOf(thread, request, milliseconds);
    this.#isReady = this.#thread === thread;
    return response;
  }

  #responseOf(thread: Worker, request: SchemaRequest, milliseconds: number): Promise<SchemaResponse> {
    const signal = this.#signal;
    const removals: (() => void)[] = [];
    const end = () => {
      this.#thread = null;
      this.#isReady = false;
      void thread.terminate();
    };
    const response = new Promise<SchemaResponse>((resolve, reject) => {
      const stop = () => {
        end();
        reject(signal.reason);
      };
      const giveUp = (reason: string) => {
        end();
        const fault = { place: '', reason: `it cannot be checked: ${reason}` };
        resolve(request.reply === null ? { kind: 'refused', fault } : { kind: 'mismatch', faults: [fault] });
      };
      const onError = (error: NodeJS.ErrnoException) => {
        if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') giveUp(`it takes more than ${maxMegabytes} MiB`);
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
      thread.postMessage(request);
    });
    return response.finally(() => {
      for (const remove of removals) remove();
    });
  }
}

function unstartable(error: Error): ParleyError {
  if (isOutOfFiles(error)) {
    const message = 'Cannot start the check of replies: too many open files.';
    return new ParleyError('UNAVAILABLE', message, { hint: outOfFilesHint });
  }
  return new ParleyError('INTERNAL_ERROR', `Cannot start the check of replies: ${error.message}.`, {
    hint: 'The installation may be incomplete; npm install -g parley-cli repairs it.',
  });
}
