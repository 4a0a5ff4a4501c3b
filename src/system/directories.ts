// Directories for the user alone, and the sync that makes a name in one outlive a power cut.
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the directory and those above it that are not there, each durable before the next. A directory of the user's own keeps its
 * mode. It goes step by step: Node's recursive mkdir never returns where a parent is a link to nowhere.
 */
export function makePrivateDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) makePrivateDirectory(parent);
  try {
    mkdirSync(path, 0o700);
  } catch (error) {
    if (isDirectory(path)) return; // another process was first
    throw error;
  }
  chmodSync(path, 0o700); // a umask may have taken the owner's own rights
  syncDirectory(parent);
}

/** What file systems and systems say that cannot sync a directory. */
const withoutSync: ReadonlySet<string> = new Set([
  'EINVAL',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EPERM',
  'EISDIR',
]);

/** A file that was made, moved or removed in this directory stays so after a power cut. */
export function syncDirectory(path: string): void {
  let directory: number;
  try {
    directory = openSync(path, 'r');
  } catch {
    return; // a system that opens no directories, or one that we may not read: no more can be done
  }
  try {
    fsyncSync(directory);
  } catch (error) {
    if (!withoutSync.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    closeSync(directory);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // whatever is in the way, making it says
  }
}
