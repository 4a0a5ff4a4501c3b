// Checks replies in a thread with a time limit, because a regular expression of a schema may run forever and block signals. Several schemas may
// share the thread. It starts with the first check.
import { once } from 'node:events';
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

  async #responseOf(thread: Worker, request: SchemaRequest, milliseconds: number): Promise<SchemaResponse> {
    const end = new AbortController();
    const stop = () => end.abort();
    const timer = setTimeout(stop, milliseconds);
    this.#signal.addEventListener('abort', stop);
    try {
      const message = once(thread, 'message', { signal: end.signal });
      thread.postMessage(request);
      return (await message)[0];
    } catch (error) {
      this.#thread = null;
      this.#isReady = false;
      void thread.terminate();
      this.#signal.throwIfAborted();
      const reason = end.signal.aborted
        ? `it takes longer than ${milliseconds / 1000} s`
        : exceededLimit(error as NodeJS.ErrnoException);
      if (reason === null) throw unstartable(error as Error);
      const fault = { place: '', reason: `it cannot be checked: ${reason}` };
      return request.reply === null ? { kind: 'refused', fault } : { kind: 'mismatch', faults: [fault] };
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener('abort', stop);
    }
  }
}

/** The limit of the thread that a check exceeds; null for any other failure. */
function exceededLimit(error: NodeJS.ErrnoException): string | null {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return `it takes more than ${maxMegabytes} MiB`;
  return error instanceof RangeError ? error.message : null;
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
