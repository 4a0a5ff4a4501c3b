// Creates directories that only the user can read, and syncs directories, so that their entries survive a power cut.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { systemErrorCode } from './file-errors.ts';

/**
 * Creates the directory and the missing ones above it, each durable before the next. An existing directory keeps its permissions. The
 * directories are created one by one, because Node's recursive mkdir never returns if a parent is a broken link.
 */
export function makePrivateDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makePrivateDirectory(parent);
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (isDirectory(path)) return; // another process has created it
    throw error;
  }
  chmodSync(path, 0o700); // a umask may have removed rights of the owner
  syncDirectory(parent);
}

/** The errors of file systems and operating systems that cannot sync a directory. */
const withoutSync: ReadonlySet<string> = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EPERM',
  'EISDIR',
]);

/** Makes the creation, renaming and removal of files in this directory durable. */
export function syncDirectory(path: string): void {
  let directory: number;
  try {
    directory = openSync(path, 'r');
  } catch {
    return; // a system that cannot open directories, or a directory that this user may not read
  }
  try {
    fsyncSync(directory);
  } catch (error) {
    if (!withoutSync.has(systemErrorCode(error))) throw error;
  } finally {
    closeSync(directory);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // creating the directory reports the reason
  }
}
