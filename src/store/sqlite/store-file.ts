// The data directory and the database file. Both are private from their first moment, before SQLite opens the file. SQLite gives its -wal
// and -shm files the mode of the database.
import {
  chmodSync,
  closeSync,
  fchmodSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { makePrivateDirectory, syncDirectory } from '../../system/directories.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import { isNetworkFilesystem } from './filesystem.ts';
import { directoryError } from './sqlite-errors.ts';

/** The name of the database file, unless another one is given. */
export const storeFilename = 'parley.db';

interface StoreFile {
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
    const { mode, uid, nlink } = statSync(path, { throwIfNoEntry: false }) ?? madeFile(path);
    tighten(path, mode);
    secureFilesBeside(realpathSync.native(path), uid);
    if (nlink > 1) throw severalNames(path, nlink);
    return { path, filesystem };
  } catch (error) {
    throw error instanceof ParleyError ? error : directoryError(error, directory);
  }
}

/** Makes the file, if no other process does so at this moment. */
function madeFile(path: string): Stats {
  // If a power cut removes the file from its directory, the commits in it are lost.
  if (makeFile(path)) syncDirectory(dirname(path));
  return statSync(path);
}

function makeFile(path: string): boolean {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
  return true;
}

function tighten(path: string, mode: number): void {
  if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
}

/**
 * SQLite writes into the files beside the database even if another user made them. In a directory that others may write to, another user
 * could make such a file and read there what is stored. `owner` is the user who owns the database.
 */
function secureFilesBeside(path: string, owner: number): void {
  for (const ending of ['-wal', '-shm', '-journal']) {
    const stat = lstatSync(path + ending, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (!stat.isFile() || stat.uid !== owner) throw ofAnother(path + ending);
    tighten(path + ending, stat.mode);
  }
}

function ofAnother(path: string): ParleyError {
  return new ParleyError(
    'STORE_UNSAFE',
    `${path} is a link, or belongs to another user, who could read there what is stored.`,
    {
      hint:
        'Nothing was changed. Look at who made it. If it came with the store, it may hold the newest turns: make it a file of the owner of ' +
        'the store. If not, remove it. Then let nobody else write to its directory.',
    },
  );
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

/** The bytes of the log beside the database. */
export function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
