// A copy of the store beside it, `parley.db.backup-v1` for schema 1, durable before it has its name. The caller holds the
// write lock, so that there is one writer of copies and nothing changes meanwhile.
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { moveIntoPlace } from '../../system/atomic-file.ts';
import { syncDirectory } from '../../system/directories.ts';
import { openDatabase } from './binding.ts';

/** The path of the copy. */
export function backUp(path: string, version: number): string {
  const name = freeName(`${path}.backup-v${version}`);
  const part = `${path}.backup-part`;
  rmSync(part, { force: true }); // left by a process that died here
  closeSync(openSync(part, 'wx', 0o600)); // SQLite writes into an empty file, and would make one that all may read
  try {
    copy(path, part);
    moveIntoPlace(part, name, { durable: true });
    return name;
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/** An earlier copy stays: the store may have been used since a migration that failed after copying. */
function freeName(name: string): string {
  if (!existsSync(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!existsSync(`${name}-${number}`)) return `${name}-${number}`;
  }
}

/** Through a second connection: the one that holds the lock is inside a transaction, where SQLite copies nothing. */
function copy(path: string, target: string): void {
  const source = openDatabase(path);
  try {
    source.prepare('VACUUM INTO ?').run(target);
  } finally {
    source.close();
  }
}

/** All copies beside the store, finished or not. */
export function backupsOf(path: string): readonly string[] {
  const directory = dirname(path);
  return readdirSync(directory)
    .filter((name) => name.startsWith(`${basename(path)}.backup-`))
    .sort()
    .map((name) => join(directory, name));
}

export function removeBackups(path: string): readonly string[] {
  const backups = backupsOf(path);
  for (const backup of backups) rmSync(backup, { force: true });
  if (backups.length > 0) syncDirectory(dirname(path));
  return backups;
}
