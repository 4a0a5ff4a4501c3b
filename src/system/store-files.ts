// The files of a store in SQLite. This process must not open the files of its own store: when it closes such a file, the operating system
// drops the locks of SQLite on it, and another process can overwrite what this one commits.
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { ParleyError } from '../service/errors.ts';

/** Recognises the file by its name, in any letter case: macOS and Windows open it by all of them. */
export function isStoreFile(path: string): boolean {
  return /^parley\.db(-wal|-shm|-journal)?$/i.test(basename(path));
}

export function refuseStoreFile(path: string): void {
  if (!isStoreFile(targetOf(path))) return;
  throw new ParleyError('USAGE', `The file ${path} cannot be read: it belongs to a store of Parley.`, {
    hint: 'An export or a backup of the store can be read.',
  });
}

/** The target of a link, or the path itself. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
