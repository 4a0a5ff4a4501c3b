// Wakes the callers that wait for the end of a turn. A turn that ends through this store wakes them at once. They notice the end of a turn
// in another process when they look again.
import { monotonicMs } from '../system/monotonic-clock.ts';

const firstPauseMs = 10;
const longestPauseMs = 50;

export class TurnWaiters {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Wakes the callers that wait for this session, because its turn has ended. */
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
    const until = monotonicMs() + waitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      signal.throwIfAborted();
      if (!(await isRunning())) return true;
      const left = until - monotonicMs();
      if (left <= 0) return false;
      await this.#pause(sessionId, Math.min(pauseMs, left), signal);
    }
  }

  /** Resolves when it is time to look again: when the caller is woken, or after `ms` milliseconds. */
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
