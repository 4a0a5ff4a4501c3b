// One process at a time: a lock file that holds its owner's name. It protects what is synchronous and short (`withFileLock`), or
// the whole run of a command (`holdFileLock`).
//
// A lock whose owner is gone is removed at once. Two that find it must not both do so (the second would remove the first's
// new lock: proper-lockfile has this fault), so removal is itself guarded by a file, under which the lock is looked at again.
import { existsSync, linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { ParleyError } from '../service/errors.ts';
import type { LockOwner } from './lock-owner.ts';
import { quoteForShell } from './shell-quote.ts';

const waitMs = 10_000;
/** Where it cannot be known whether the owner is gone, this age decides: a lock is held for milliseconds. */
const abandonedMs = 60_000;

export interface FileLock {
  readonly path: string;
  readonly owner: LockOwner;
  readonly now: () => number;
}

/** Rejects with `STORE_BUSY` if the lock does not come free within ten seconds. */
export async function withFileLock<T>(lock: FileLock, action: () => T): Promise<T> {
  const deadline = lock.now() + waitMs;
  while (!take(lock.path, lock.owner.name)) {
    removeIfAbandoned(lock, abandonedMs);
    if (lock.now() >= deadline) throw busy(lock);
    await new Promise((resolve) => setTimeout(resolve, 2 + Math.random() * 10));
  }
  try {
    return action();
  } finally {
    release(lock);
  }
}

/**
 * Takes the lock for as long as this process pleases, and returns what lets go of it. `STORE_BUSY`, at once, where another process
 * that may still run holds it; `work` names what that is at work on.
 */
export function holdFileLock(lock: FileLock, work: string): () => void {
  if (!take(lock.path, lock.owner.name)) {
    removeIfAbandoned(lock, Number.POSITIVE_INFINITY);
    if (!take(lock.path, lock.owner.name)) {
      throw new ParleyError('STORE_BUSY', `Another parley is at work on ${work}.`, {
        hint: `Wait for it, or stop it. If no other runs, remove its lock: rm -f ${quoteForShell(lock.path)}`,
      });
    }
  }
  return () => release(lock);
}

/** False if somebody holds it. It appears with its name in it: a kill at any moment leaves no lock that nobody could tell to be free. */
function take(path: string, name: string): boolean {
  // Who waits asks often: that must cost the holder little.
  if (existsSync(path)) return false;
  const named = temporaryOf(path, name);
  try {
    writeFileSync(named, name, { mode: 0o600 });
    linkSync(named, path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (withoutLinks.has(code)) return takePlain(path, name);
    throw error;
  } finally {
    rmSync(named, { force: true });
  }
}

function temporaryOf(path: string, name: string): string {
  return `${path}.${name.replace(/\W+/g, '-')}.tmp`;
}

/** What file systems without hard links say. */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function takePlain(path: string, name: string): boolean {
  try {
    writeFileSync(path, name, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    rmSync(path, { force: true });
    throw error;
  }
}

function release(lock: FileLock): void {
  if (readIfThere(lock.path) === lock.owner.name) rmSync(lock.path, { force: true });
}

function removeIfAbandoned(lock: FileLock, oldestMs: number): void {
  if (!isAbandoned(lock, oldestMs)) return;
  const guard = guardPath(lock);
  if (!takeGuard(guard, lock.owner)) return;
  try {
    if (isAbandoned(lock, oldestMs)) rmSync(lock.path, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

/**
 * A guard outlives its owner only when that is killed within a removal. It is put aside before it is removed: if it is no longer the one
 * that was looked at, another process has just taken its place, and gets its own back.
 */
function takeGuard(guard: string, owner: LockOwner): boolean {
  if (take(guard, owner.name)) return true;
  const holder = readIfThere(guard);
  if (holder === null || owner.stateOf(holder) !== 'gone') return false;
  const aside = temporaryOf(guard, owner.name);
  try {
    renameSync(guard, aside);
    if (readFileSync(aside, 'utf8') !== holder) linkSync(aside, guard);
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return take(guard, owner.name);
}

function isAbandoned(lock: FileLock, oldestMs: number): boolean {
  const name = readIfThere(lock.path);
  if (name === null) return false;
  const state = lock.owner.stateOf(name);
  if (state !== 'unknown') return state === 'gone';
  const made = statSync(lock.path, { throwIfNoEntry: false })?.mtimeMs;
  return made !== undefined && lock.now() - made > oldestMs;
}

function guardPath(lock: FileLock): string {
  return `${lock.path}.removal`;
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function busy(lock: FileLock): ParleyError {
  const files = `${quoteForShell(lock.path)} ${quoteForShell(guardPath(lock))}`;
  return new ParleyError('STORE_BUSY', `Another process holds the lock ${lock.path} for more than 10 s.`, {
    hint: `Try again. If no other parley runs, remove the lock: rm -f ${files}`,
  });
}
