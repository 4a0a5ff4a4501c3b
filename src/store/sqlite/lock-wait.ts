// Waiting for a lock that another process holds. SQLite's own wait (busy_timeout) would stop the whole process meanwhile,
// so it is off, and the attempt is made again from the event loop.

export interface LockWait {
  /** How long an attempt is repeated, ms. */
  readonly waitMs: number;
  /** 0 to 1: pauses of unequal length, so that processes that wait together do not collide together. */
  readonly random: () => number;
}

export const usualLockWaitMs = 5000;
/** Of a reply, which stands nowhere else and may have been shown already. */
export const replyLockWaitMs = 60_000;
const longestPauseMs = 50;

export function isLocked(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return false;
  // PROTOCOL: SQLite itself gave up on a race for the log's locks.
  return /^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(error.code);
}

/** Whether to go on, after a further pause (ms) for a lock: `failure` is what SQLite said of it. */
export type IsWanted = (pausedMs: number, failure: unknown) => boolean;

/**
 * Repeats an attempt that finds a lock, as long as it is wanted, then rejects with what SQLite said. Nearly always the first succeeds,
 * at once.
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
