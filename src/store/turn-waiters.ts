// Those who wait for a turn to end. One that ends through this store wakes them at once; of one in another process they learn when they
// look again.

const firstPauseMs = 10;
const longestPauseMs = 50;

export class TurnWaiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** A turn of this session has ended. */
  wake(sessionId: string): void {
    for (const resume of this.#waiting.get(sessionId) ?? []) resume();
  }

  /** True once the turn no longer runs, false after `waitMs`. Rejects with the signal's reason. */
  async wait(
    sessionId: string,
    isRunning: () => Promise<boolean>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const until = performance.now() + waitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      signal.throwIfAborted();
      if (!(await isRunning())) return true;
      const left = until - performance.now();
      if (left <= 0) return false;
      await this.#pause(sessionId, Math.min(pauseMs, left), signal);
    }
  }

  /** Resolves when it is time to look again: woken, or after so many milliseconds. */
  #pause(sessionId: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const ofSession = this.#waiting.get(sessionId) ?? new Set();
      this.#waiting.set(sessionId, ofSession);
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        ofSession.delete(resume);
        if (ofSession.size === 0) this.#waiting.delete(sessionId);
      };
      const resume = () => {
        end();
        resolve();
      };
      const stop = () => {
        end();
        reject(signal.reason);
      };
      const timer = setTimeout(resume, ms);
      signal.addEventListener('abort', stop, { once: true });
      ofSession.add(resume);
    });
  }
}
