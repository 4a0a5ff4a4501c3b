// One process at a time, for something synchronous and short (`withFileLock`) or for the whole run of a command (`holdFileLock`), and
// what is told of a lock that another process holds.
import { ParleyError } from '../service/errors.ts';
import { type FileLock, takeWithin } from '../system/file-lock.ts';
import { fileFailure } from './file-failure.ts';

const usualWaitMs = 10_000;
/** Two processes that try at one moment can both find the lock held: a single attempt does not tell. */
const holdWaitMs = 300;

/** Rejects with `STORE_BUSY` if the lock does not come free within the wait. */
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
 * Takes the lock for as long as this process pleases, and resolves with what lets go of it. `STORE_BUSY`, nearly at once, where another
 * process holds it; `work` names what that is at work on.
 */
export async function holdFileLock(lock: FileLock, work: string): Promise<() => void> {
  const letGo = await takeWithin(lock, holdWaitMs).catch((error: unknown) => {
    throw fileFailure(error, lock.path, 'written', 'Make its directory one that you may write to.');
  });
  if (letGo !== null) return letGo;
  throw new ParleyError('STORE_BUSY', `Another process of Parley is at work on ${work}.`, {
    hint: `Wait for it, or stop it. The lock ${lock.path} ends with the process that holds it.`,
  });
}
