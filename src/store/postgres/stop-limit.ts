// Limits how long calls may wait for the database after the stop of the process.
import { setMaxListeners } from 'node:events';
import { beforeAbort } from '../../system/before-abort.ts';

/** How long a call may take after the stop, ms. */
const stopMs = 1500;

export class StopLimit {
  /** Null without a limit. */
  readonly #over: AbortController | null;

  /** `stop` fires when the process is to end. Missing for a process that serves. */
  constructor(stop?: AbortSignal) {
    const over = stop === undefined ? null : new AbortController();
    this.#over = over;
    // Each running call adds a listener.
    if (over !== null) setMaxListeners(0, over.signal);
    stop?.addEventListener('abort', () => {
      setTimeout(() => over?.abort(stop.reason), stopMs).unref();
    });
  }

  get isOver(): boolean {
    return this.#over?.signal.aborted === true;
  }

  /** Settles like the work. Rejects with the reason of the stop when no call may wait any longer. */
  within<T>(work: Promise<T>): Promise<T> {
    return this.#over === null ? work : beforeAbort(work, this.#over.signal);
  }

  isReason(error: unknown): boolean {
    return this.isOver && error === this.#over?.signal.reason;
  }
}
