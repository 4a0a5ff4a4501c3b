// A lock between processes that the operating system lets go of when its holder ends, however that ends: an exclusive transaction on an
// empty database. Nothing is ever written to the file, so a power cut can damage nothing. The file stays when the lock is let go.
import { closeSync, openSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { openDatabase, refuseUnusableBinding } from './binding.ts';
import { isLocked } from './lock-wait.ts';

/** Returns a function that takes a lock and returns what lets go of it, or null while another connection holds it. */
export function lockFiles(nodeApiVersion: number): (path: string) => (() => void) | null {
  refuseUnusableBinding(nodeApiVersion);
  return takeLock;
}

function takeLock(path: string): (() => void) | null {
  makeFile(path);
  try {
    const database = openDatabase(path);
    try {
      // Beginning prepares a first page, and would keep a journal of that on disk.
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

/** Private from its first moment: whoever may read the file may keep others from locking it. An existing file is not opened here. */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function unusable(path: string, cause: unknown): ParleyError {
  const { code = '', message } = cause as { readonly code?: string; readonly message: string };
  const hint =
    code === 'SQLITE_NOTADB' || code === 'SQLITE_CORRUPT'
      ? 'It must be empty. End every process that uses it, then remove it.'
      : 'Make it a file that you may write, on a file system that has locks.';
  return new ParleyError('CONFIG', `The lock ${path} cannot be taken (${code || message}).`, { hint, cause });
}
