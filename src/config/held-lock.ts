// Lets one process at a time do something: for a short synchronous action (`withFileLock`), or for the whole run of a command
// (`holdFileLock`). Both report a lock that another process holds.
import { ParleyError } from '../service/errors.ts';
import { type FileLock, takeWithin } from '../system/file-lock.ts';
import { fileFailure } from './file-failure.ts';

const usualWaitMs = 10_000;
/** Two processes that try at the same moment may both find the lock held, so one attempt is not enough. */
const holdWaitMs = 300;

/** Rejects with `STORE_BUSY` if the lock stays held for the whole wait. */
export async function withFileLock<T>(lock: FileLock, action: () => T): Promise<T> {
  const waitMs = lock.waitMs ?? usualWaitMs;
  const letGo = await takeWithin(lock, waitMs);
  if (letGo === null) {
    throw new ParleyError(
      'STORE_BUSY',
      `Another process has held the lock ${lock.path} for more than ${waitMs / 1000} s.`,
      { hint: 'Try again. The lock ends with the process that holds it.' },
    );
  }
  try {
    return action();
  } finally {
    letGo();
  }
}

/**
 * Takes the lock until the returned function is called. Rejects soon with `STORE_BUSY` where another process holds it. `work` names what
 * that process works on.
 */
export async function holdFileLock(lock: FileLock, work: string): Promise<() => void> {
  const letGo = await takeWithin(lock, holdWaitMs).catch((error: unknown) => {
    throw fileFailure(error, lock.path, 'written', 'Make its directory one that you may write to.');
  });
  if (letGo !== null) return letGo;
  throw new ParleyError('STORE_BUSY', `Another process of Parley is working on ${work}.`, {
    hint: `Wait for it, or stop it. The lock ${lock.path} ends with the process that holds it.`,
  });
}
