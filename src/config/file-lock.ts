// One process at a time, for something synchronous and short (`withFileLock`) or for the whole run of a command (`holdFileLock`). The
// operating system keeps the lock and lets go of it when its process ends: no lock outlives its holder, and none is taken from one.
import { ParleyError } from '../service/errors.ts';
import { fileFailure } from './private-file.ts';

/** Takes the lock of a file and returns what lets go of it; null while it is held elsewhere. */
export type TakeLock = (path: string) => (() => void) | null;

/** Loads what locks need: SQLite. */
export type LoadLocks = () => Promise<TakeLock>;

export interface FileLock {
  readonly path: string;
  readonly locks: LoadLocks;
  /** How long it is waited for. */
  readonly waitMs?: number;
}

const usualWaitMs = 10_000;
/** Two processes that try at one moment can both find the lock held: a single attempt does not tell. */
const holdWaitMs = 300;
const longestPauseMs = 20;

/** Rejects with `STORE_BUSY` if the lock does not come free within the wait. */
export async function withFileLock<T>(lock: FileLock, action: () => T): Promise<T> {
  const waitMs = lock.waitMs ?? usualWaitMs;
  const letGo = await taken(lock, waitMs);
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
  const letGo = await taken(lock, holdWaitMs).catch((error: unknown) => {
    throw fileFailure(error, lock.path, 'written', 'Make its directory one that you may write to.');
  });
  if (letGo !== null) return letGo;
  throw new ParleyError('STORE_BUSY', `Another process of Parley is at work on ${work}.`, {
    hint: `Wait for it, or stop it. The lock ${lock.path} ends with the process that holds it.`,
  });
}

/** The wait is counted in pauses: a clock that jumps neither shortens nor stretches it. */
async function taken({ path, locks }: FileLock, waitMs: number): Promise<(() => void) | null> {
  const take = await locks();
  let waited = 0;
  for (let longest = 2; ; longest = Math.min(longest * 2, longestPauseMs)) {
    const letGo = take(path);
    if (letGo !== null || waited >= waitMs) return letGo;
    const pause = Math.ceil(longest * (0.5 + Math.random() / 2));
    waited += pause;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
