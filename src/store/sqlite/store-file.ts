// Makes the data directory and the database file, private from their first moment, before SQLite opens them. SQLite gives its -wal and -shm
// files the mode of the database.
import { chmodSync, closeSync, fchmodSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { makePrivateDirectory, syncDirectory } from '../../system/directories.ts';
import { isNetworkFilesystem } from './filesystem.ts';
import { directoryError } from './sqlite-errors.ts';

export interface StoreFile {
  readonly path: string;
  readonly filesystem: string;
}

/** Opens the file only if it makes the file: closing a file that SQLite has open in this process would drop SQLite's locks. */
export function prepareStoreFile(
  directory: string,
  filename: string,
  filesystemType: (directory: string) => string,
): StoreFile {
  try {
    makePrivateDirectory(directory);
    const filesystem = filesystemType(directory);
    if (isNetworkFilesystem(filesystem)) throw onNetwork(directory, filesystem);
    const path = join(directory, filename);
    // If a power cut removes the file from its directory, the commits in it are lost.
    if (makeFile(path)) syncDirectory(directory);
    else tighten(path);
    const names = statSync(path).nlink;
    if (names > 1) throw severalNames(path, names);
    return { path, filesystem };
  } catch (error) {
    throw error instanceof ParleyError ? error : directoryError(error, directory);
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

/** SQLite's log and locks go by the name of the file. Processes that use two names of one file overwrite what the others have kept. */
function severalNames(path: string, names: number): ParleyError {
  return new ParleyError(
    'STORE_UNSAFE',
    `The store ${path} is one file with ${names} names (hard links), and what is kept through one is lost through another.`,
    {
      hint: 'It was not changed. While no Parley runs, copy the file, remove this name of it, and give the name to the copy.',
    },
  );
}

function onNetwork(directory: string, filesystem: string): ParleyError {
  return new ParleyError(
    'STORE_UNSAFE',
    `The data directory ${directory} is on a network file system (${filesystem}), which does not keep SQLite's locks.`,
    { hint: 'Set PARLEY_DATA_DIR to a directory on a local disk.' },
  );
}
