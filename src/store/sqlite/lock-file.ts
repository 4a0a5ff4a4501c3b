// A lock between processes: an exclusive transaction on an empty database. The operating system releases it when its holder ends in any
// way. Nothing is ever written to the file, so a power cut cannot damage it. The file stays after the release.
import { closeSync, openSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import type { SqliteDriver } from './driver.ts';
import { isLocked } from './lock-wait.ts';
import { tooLongPath } from './sqlite-errors.ts';

/** Returns a function that takes a lock. That function returns the release, or null while another connection holds the lock. */
export function lockFiles(driver: SqliteDriver): (path: string) => (() => void) | null {
  return (path) => takeLock(driver, path);
}

function takeLock(driver: SqliteDriver, path: string): (() => void) | null {
  makeFile(path);
  try {
    const database = driver.open(path);
    try {
      // BEGIN prepares a first page. Without this setting its journal would be a file.
      database.exec('PRAGMA journal_mode = MEMORY');
      database.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    return () => {
      database.close();
    };
  } catch (error) {
    if (isLocked(error)) return null;
    throw error instanceof ParleyError ? error : unusable(path, error);
  }
}

/** Makes the file private from its first moment: a user who can read the file can block the lock. An existing file is not opened here. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
  }
}

function unusable(path: string, cause: unknown): ParleyError {
  const { code = '', message } = cause as { readonly code?: string; readonly message: string };
  const tooLong = tooLongPath(path);
  const hint =
    code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT'
      ? 'It must be empty. End every process that uses it, then remove it.'
      : tooLong === null
        ? 'Make it a file that you may write, on a file system that has locks.'
        : `${tooLong} Set PARLEY_DATA_DIR, or PARLEY_CONFIG_DIR for a lock in it, to a shorter directory.`;
  return new ParleyError('CONFIG', `The lock ${path} cannot be taken (${code || message}).`, { hint, cause });
}
