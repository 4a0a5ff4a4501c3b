// A lock on a file between processes, and the wait for it. The operating system keeps the lock and lets go of it when its process ends:
// no lock outlives its holder, and none is taken from one.

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

const longestPauseMs = 20;

/** Null where it does not come free within the wait, which is counted in pauses: a clock that jumps neither shortens nor stretches it. */
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
