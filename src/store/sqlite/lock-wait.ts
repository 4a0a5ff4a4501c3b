// Waits for a lock that another process holds. SQLite's own wait (busy_timeout) would block the whole process, so it is off, and the event
// loop repeats the attempt.
import { systemErrorCode } from '../../system/file-errors.ts';

export interface LockWait {
  /** How long an attempt is repeated, in ms. */
  readonly waitMs: number;
  /** A random number from 0 to 1. It varies the pauses, so that waiting processes do not collide again. */
  readonly random: () => number;
}

export const defaultLockWaitMs = 5000;

/** The longest wait (ms) of a caller with this time limit in seconds; null for none. */
export function lockWaitMsWithin(timeout: number | null): number {
  return timeout === null ? defaultLockWaitMs : Math.min(timeout * 1000, defaultLockWaitMs);
}

/** The longest wait (ms) for storing a reply. It is long because the reply is stored nowhere else and may have been shown already. */
export const replyLockWaitMs = 60_000;
const longestPauseMs = 50;

/** True for SQLite's errors about a lock that another connection holds. */
export function isLocked(error: unknown): boolean {
  // PROTOCOL: SQLite itself gave up after a race for the locks of the log.
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(systemErrorCode(error));
}

/** True to repeat the attempt after another pause (ms). `failure` is SQLite's error. */
export type IsWanted = (pausedMs: number, failure: unknown) => boolean;

/**
 * Repeats an attempt that meets a lock as long as `isWanted` allows it, then rejects with SQLite's error. The first attempt nearly always
 * succeeds.
 */
export function whenUnlocked<T>(
  attempt: () => T,
  wait: LockWait,
  isWanted: IsWanted = () => true,
): T | Promise<T> {
  try {
    return attempt();
  } catch (error) {
    return againUntilUnlocked(attempt, wait, error, isWanted);
  }
}

async function againUntilUnlocked<T>(
  attempt: () => T,
  wait: LockWait,
  first: unknown,
  isWanted: IsWanted,
): Promise<T> {
  let failure = first;
  let waited = 0;
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    if (!isLocked(failure) || waited >= wait.waitMs) throw failure;
    const pause = Math.ceil(pauseMs * (0.5 + wait.random() / 2));
    waited += pause;
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!isWanted(pause, failure)) throw failure;
    try {
      return attempt();
    } catch (error) {
      failure = error;
    }
  }
}
