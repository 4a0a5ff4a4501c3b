// File locks between processes, for a short synchronous action (`withFileLock`) or for the whole run of a command (`holdFileLock`). The
// operating system releases a lock when its process ends, so no lock outlives its holder.
import { ParleyError } from '../service/errors.ts';
import { fileFailure } from './file-failure.ts';

/** Takes the lock of a file. Returns the function that releases it, or null while another process holds the lock. */
export type TakeLock = (path: string) => (() => void) | null;

/** Loads the code for locks, which is SQLite. */
export type LoadLocks = () => Promise<TakeLock>;

export interface FileLock {
  readonly path: string;
  readonly locks: LoadLocks;
  /** The longest wait for the lock, in ms. */
  readonly waitMs?: number;
}

const defaultWaitMs = 10_000;
/** If two processes try at the same moment, both may find the lock held, so one attempt is not enough. */
const holdWaitMs = 300;
const maxPauseMs = 20;

/** Runs the action under the lock, to its end. Rejects with `STORE_BUSY` if the wait is over before the lock is free. */
export async function withFileLock<T>(lock: FileLock, action: () => T | Promise<T>): Promise<T> {
  const waitMs = lock.waitMs ?? defaultWaitMs;
  const release = await takeWithin(lock, waitMs);
  if (release === null) {
    throw new ParleyError(
      'STORE_BUSY',
      `Another process has held the lock ${lock.path} for more than ${waitMs / 1000} s.`,
      { hint: 'Try again. The lock is released when the process that holds it ends.' },
    );
  }
  try {
    return await action();
  } finally {
    release();
  }
}

/**
 * Takes the lock and returns the function that releases it. Rejects with `STORE_BUSY` after a short wait if another process holds it. `work`
 * describes the work of that process.
 */
export async function holdFileLock(lock: FileLock, work: string): Promise<() => void> {
  const release = await takeWithin(lock, holdWaitMs).catch((error: unknown) => {
    throw fileFailure(error, lock.path, 'written', 'Make its directory one that you may write to.');
  });
  if (release !== null) return release;
  throw new ParleyError('STORE_BUSY', `Another process of Parley is working on ${work}.`, {
    hint: `Wait for it, or stop it. The lock ${lock.path} is released when the process that holds it ends.`,
  });
}

/** Returns null if the wait is over before the lock is free. The wait is a sum of pauses, so a clock that jumps does not change it. */
async function takeWithin({ path, locks }: FileLock, waitMs: number): Promise<(() => void) | null> {
  const take = await locks();
  let waited = 0;
  for (let pauseLimitMs = 2; ; pauseLimitMs = Math.min(pauseLimitMs * 2, maxPauseMs)) {
    const release = take(path);
    if (release !== null || waited >= waitMs) return release;
    const pause = Math.ceil(pauseLimitMs * (0.5 + Math.random() / 2));
    waited += pause;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
