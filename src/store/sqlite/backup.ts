// Copies the store to a file beside it, `parley.db.backup-v1` for schema 1. The copy is durable before it gets its name. The caller holds
// the write lock, so there is one copy at a time and nothing changes meanwhile.
import { closeSync, existsSync, openSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { moveIntoPlace } from '../../system/atomic-file.ts';
import { syncDirectory } from '../../system/directories.ts';
import type { Connection } from './connection.ts';

/** An unnamed copy of the store. The next copy replaces it if the process is killed before `keep`. */
export interface UnnamedCopy {
  /** Gives the copy its name, durably. Returns the path. */
  keep(): string;
  discard(): void;
}

export function backUp(connection: Connection, version: number): UnnamedCopy {
  return unnamedCopy(connection.path, version, (part) => copy(connection, part));
}

/** Makes a copy with `write`, which fills the empty file of the given path. Returns the path of the copy. */
export function copyTo(path: string, version: number, write: (part: string) => void): string {
  const copy = unnamedCopy(path, version, write);
  try {
    return copy.keep();
  } catch (error) {
    copy.discard();
    throw error;
  }
}

function unnamedCopy(path: string, version: number, write: (part: string) => void): UnnamedCopy {
  const part = `${path}.backup-part`;
  const discard = () => rmSync(part, { force: true });
  discard(); // A process that ended before it named its copy left this file.
  closeSync(openSync(part, 'wx', 0o600)); // SQLite writes into this empty file. All users could read a file that SQLite makes.
  try {
    write(part);
  } catch (error) {
    discard();
    throw error;
  }
  const keep = () => {
    const name = freeName(`${path}.backup-v${version}`);
    moveIntoPlace(part, name, { durable: true });
    return name;
  };
  return { keep, discard };
}

/** A free name for the copy. An earlier copy stays: the store may have been used since a migration that failed after copying. */
function freeName(name: string): string {
  if (!existsSync(name)) return name;
  for (let number = 2; ; number += 1) {
    if (!existsSync(`${name}-${number}`)) return `${name}-${number}`;
  }
}

/**
 * Copies through a second connection: SQLite copies nothing over the connection that holds the lock, because it is inside a transaction.
 */
function copy(connection: Connection, target: string): void {
  const source = connection.openAnother();
  try {
    source.run('VACUUM INTO @target', { target });
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

/** Removes all copies durably, and returns their paths. */
export function removeBackups(path: string): readonly string[] {
  const backups = backupsOf(path);
  for (const backup of backups) rmSync(backup, { force: true });
  if (backups.length > 0) syncDirectory(dirname(path));
  return backups;
}
