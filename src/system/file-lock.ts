// A file lock between processes, and the wait for it. The operating system releases the lock when its process ends, so no lock outlives its
// holder.

/** Takes the lock of a file, and returns the function that releases it; null while another process holds the lock. */
export type TakeLock = (path: string) => (() => void) | null;

/** Loads the code for locks, which is SQLite. */
export type LoadLocks = () => Promise<TakeLock>;

export interface FileLock {
  readonly path: string;
  readonly locks: LoadLocks;
  /** The longest wait for the lock, in ms. */
  readonly waitMs?: number;
}

const longestPauseMs = 20;

/** Null if the lock stays held for the whole wait. The wait is a sum of pauses, so a clock that jumps does not change it. */
export async function takeWithin({ path, locks }: FileLock, waitMs: number): Promise<(() => void) | null> {
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
