// Files in the data directory of this machine: journals, records and memories of commands over many sessions.
import { makePrivateDirectory } from '../system/directories.ts';
import { fileFailure } from '../system/file-failure.ts';

/** The failure of a write below the data directory. Any error but that of a system call is returned unchanged. */
export function dataFileFailure(error: unknown, path: string): unknown {
  const remedy = 'Make the directory writable, or set PARLEY_DATA_DIR to another one.';
  return fileFailure(error, path, 'written', remedy);
}

/** The failure of a write to a journal after the first requests of its command: the command has done something. */
export function journalFailure(error: unknown, path: string): unknown {
  const remedy = 'What is recorded there is kept. Check the disk of the data directory.';
  return fileFailure(error, path, 'written', remedy, 'STORE_UNSAFE');
}

/** Throws the failure that a user sees. */
export function makeDataDirectory(path: string): void {
  try {
    makePrivateDirectory(path);
  } catch (error) {
    throw dataFileFailure(error, path);
  }
}
