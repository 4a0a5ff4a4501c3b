// The files of an export. A file appears completely or not at all, is readable only by its owner, and replaces another file only on request.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { AtomicFile } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import { isDiskFull, systemErrorCode } from '../../system/file-errors.ts';
import type { PartOwner } from '../../system/part-owner.ts';
import { isStoreFile } from '../../system/store-files.ts';

/** True for an existing directory, and for a path that ends with a slash. */
export function namesDirectory(path: string): boolean {
  return path.endsWith('/') || (existsSync(path) && statSync(path).isDirectory());
}

export function makeDirectory(path: string): void {
  try {
    makePrivateDirectory(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** A file that appears under its name when it is complete. Its failures are reported as failures of an export. */
export class NewFile {
  readonly path: string;
  readonly #file: AtomicFile;

  /** Removes what killed processes have left in the directory of the file. */
  static create(path: string, force: boolean, owner: PartOwner): NewFile {
    try {
      const place = placeOf(path);
      if (isStoreFile(place))
        throw new ParleyError('USAGE', `${path} is a file of a store of Parley.`, {
          hint: 'Nothing was written. Name another file.',
        });
      if (!force && existsSync(path)) throw alreadyExists(path);
      owner.removeLeftParts(dirname(place));
      const { name } = owner;
      return new NewFile(place, new AtomicFile(place, { replaces: force, durable: true, owner: name }));
    } catch (error) {
      throw error instanceof ParleyError ? error : unwritable(path, error);
    }
  }

  private constructor(path: string, file: AtomicFile) {
    this.path = path;
    this.#file = file;
  }

  write(text: string): void {
    try {
      this.#file.write(text);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** Completes the file. It survives a power failure once this returns. */
  keep(): void {
    try {
      this.#file.keep();
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') throw alreadyExists(this.path);
      throw unwritable(this.path, error);
    }
  }

  discard(): void {
    this.#file.discard();
  }
}

/**
 * The target of a link to a file, or the path itself. Devices and pipes such as `/dev/null` are refused, because a file would replace them.
 */
function placeOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return path;
  if (there.isFile()) return realpathSync(path);
  throw new ParleyError('USAGE', `${path} is not a regular file.`, {
    hint: 'Nothing was written. Name a file, or - for standard output, and redirect that.',
  });
}

function alreadyExists(path: string): ParleyError {
  return new ParleyError('USAGE', `The file ${path} already exists.`, {
    hint: 'Nothing was written. Name another file, or replace this one with --force.',
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is exceeded',
  EFBIG: 'it would exceed the maximum file size',
  EIO: 'the disk failed (EIO)',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
};

function unwritable(path: string, cause: unknown): ParleyError {
  const reason = reasons[systemErrorCode(cause)] ?? reasonOf(cause);
  const isFull = isDiskFull(cause);
  const advice = isFull
    ? 'Free some space there, or name a file on another disk.'
    : 'Name a file in a directory that you can write to.';
  return new ParleyError(isFull ? 'STORAGE_FULL' : 'USAGE', `Cannot write the file ${path}: ${reason}.`, {
    hint: `No incomplete file was left. ${advice}`,
    cause,
  });
}
