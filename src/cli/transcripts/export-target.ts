// The target of an export: standard output, one file, or a directory with a file for each session. A file appears whole or not at all,
// is readable by its owner only, and replaces another file only on request.
import { existsSync, realpathSync, statSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { AtomicFile } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import { isDiskFull } from '../../system/file-errors.ts';

/** True for an existing directory, and for a name that can only be one. */
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

/** A file that appears under its name when it is whole. Its failures are reported as those of an export. */
export class NewFile {
  readonly path: string;
  readonly #file: AtomicFile;

  static create(path: string, force: boolean): NewFile {
    if (!force && existsSync(path)) throw isThere(path);
    try {
      const place = placeOf(path);
      return new NewFile(place, new AtomicFile(place, { replaces: force, durable: true }));
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

  /** The file survives a power cut once this returns. */
  keep(): void {
    try {
      this.#file.keep();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw isThere(this.path);
      throw unwritable(this.path, error);
    }
  }

  discard(): void {
    this.#file.discard();
  }
}

/**
 * The target of a link to a file, or the path itself. A device or a pipe such as `/dev/null` is refused, because a file would replace
 * it.
 */
function placeOf(path: string): string {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined) return path;
  if (there.isFile()) return realpathSync(path);
  throw new ParleyError('USAGE', `${path} is not a file that could be replaced.`, {
    hint: 'Nothing was written. Name a file, or leave out --output and send standard output there.',
  });
}

function isThere(path: string): ParleyError {
  return new ParleyError('USAGE', `The file ${path} is there already.`, {
    hint: 'Nothing was written. Name another, or let it be replaced with --force.',
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such directory',
  EACCES: 'permission denied',
  ENOTDIR: 'a part of its path is not a directory',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EFBIG: 'it would be longer than a file may be',
  EIO: 'the disk failed (EIO)',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
};

function unwritable(path: string, cause: unknown): ParleyError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const what = `The file ${path} cannot be written: ${reasons[code] ?? message}.`;
  return new ParleyError(isDiskFull(cause) ? 'STORAGE_FULL' : 'USAGE', what, {
    hint: 'Nothing of it is left half-done. Name a place that you may write with --output.',
    cause,
  });
}
