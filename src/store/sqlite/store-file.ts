// The data directory and the database file: made private from their first moment, before SQLite sees them. SQLite gives its
// -wal and -shm files the mode of the database.
import { chmodSync, closeSync, fchmodSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { isNetworkFilesystem } from './filesystem.ts';
import { directoryError } from './sqlite-errors.ts';

export interface StoreFile {
  readonly path: string;
  readonly filesystem: string;
}

/** Only ever opens a file that it makes: to close one that SQLite has open in this process would drop SQLite's locks. */
export function prepareStoreFile(
  directory: string,
  filename: string,
  filesystemType: (directory: string) => string,
): StoreFile {
  try {
    const made = makeDirectory(directory);
    const filesystem = filesystemType(directory);
    if (isNetworkFilesystem(filesystem)) throw onNetwork(directory, filesystem);
    const path = join(directory, filename);
    if (makeFile(path)) syncDirectories(directory, made);
    else tighten(path);
    return { path, filesystem };
  } catch (error) {
    throw error instanceof ParleyError ? error : directoryError(error, directory);
  }
}

/**
 * The topmost directory that had to be made; null if all were there. A directory of the user's own keeps its mode. Step by
 * step: Node's recursive mkdir never returns where a parent is a link to nowhere.
 */
function makeDirectory(directory: string): string | null {
  if (isDirectory(directory)) return null;
  const parent = dirname(directory);
  const madeAbove = parent === directory ? null : makeDirectory(parent);
  try {
    mkdirSync(directory, 0o700);
  } catch (error) {
    if (isDirectory(directory)) return madeAbove; // another process was first
    throw error;
  }
  chmodSync(directory, 0o700); // a umask may have taken the owner's own rights
  return madeAbove ?? directory;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // whatever is in the way, making it says
  }
}

function makeFile(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
  try {
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
  return true;
}

function tighten(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined) chmodSync(file, mode & 0o700);
  }
}

/** Makes the new names themselves durable: a commit in a file that a power cut takes from its directory is lost. */
function syncDirectories(directory: string, made: string | null): void {
  const last = made === null ? directory : dirname(made);
  for (let current = directory; ; current = dirname(current)) {
    syncDirectory(current);
    if (current === last) return;
  }
}

export function syncDirectory(directory: string): void {
  let file: number;
  try {
    file = openSync(directory, 'r');
  } catch {
    return; // a system that opens no directories, or one above ours that we may not read: no more can be done
  }
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function onNetwork(directory: string, filesystem: string): ParleyError {
  return new ParleyError(
    'STORE_UNSAFE',
    `The data directory ${directory} is on a network file system (${filesystem}), which does not keep SQLite's locks.`,
    { hint: 'Set PARLEY_DATA_DIR to a directory on a local disk.' },
  );
}
