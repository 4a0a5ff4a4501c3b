// Translates the errors of SQLite and of the file system into Parley's errors, which name the file and the remedy.
import { closeSync, openSync, readdirSync, statfsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { isDiskFull, isOutOfFiles, outOfFilesHint, systemErrorCode } from '../../system/file-errors.ts';

/** How many files SQLite opens: the store, its log, the log's index and the directory. */
const filesOfStore = 4;
const elsewhere = 'or set PARLEY_DATA_DIR to a directory on a local disk where you may write';

/** The error of the store at `path`. An error of Parley itself stays unchanged. */
export function storeError(error: unknown, path: string): ParleyError {
  if (error instanceof ParleyError) return error;
  const code = systemErrorCode(error);
  const message = error instanceof Error ? error.message : String(error);
  const primary = code.split('_').slice(0, 2).join('_');
  if (primary === 'SQLITE_FULL' || code === 'SQLITE_IOERR_SHMSIZE') return storageFull(path, error);
  if (error instanceof Error && 'syscall' in error) return directoryError(error, dirname(path));
  switch (primary) {
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
    case 'SQLITE_PROTOCOL':
      return new ParleyError('STORE_BUSY', `The store ${path} is locked by another process.`, {
        hint: 'Nothing was changed. Try again; if it stays locked, end the other Parley that uses it.',
        cause: error,
      });
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return new ParleyError('STORE_DAMAGED', `The store ${path} is damaged (${message}).`, {
        hint: damagedHint(path),
        remedy: { kind: 'restore_store' },
        cause: error,
      });
    case 'SQLITE_IOERR':
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY':
    case 'SQLITE_PERM':
    case 'SQLITE_AUTH':
      if (diskIsFull(path)) return storageFull(path, error);
      return (
        outOfFiles(path) ??
        new ParleyError(
          'STORE_UNSAFE',
          `The store ${path} cannot be read and written (${message}, ${code}).`,
          { hint: unusableHint(path), cause: error },
        )
      );
    default:
      return new ParleyError('INTERNAL_ERROR', `The store ${path} failed (${message}).`, { cause: error });
  }
}

/** SQLite refuses a longer path, in bytes: a file beside it has a name of 8 bytes more, and Unix systems allow 512. */
const longestPath = 504;

function unusableHint(path: string): string {
  const tooLong = tooLongPath(path);
  return tooLong === null
    ? `Check the disk, and who may write the file and its directory; ${elsewhere}.`
    : `${tooLong} Set PARLEY_DATA_DIR to a shorter one.`;
}

/** Null for a path that SQLite can open. */
export function tooLongPath(path: string): string | null {
  const bytes = Buffer.byteLength(path);
  return bytes > longestPath
    ? `SQLite opens no path of more than ${longestPath} bytes, and this one has ${bytes}.`
    : null;
}

/** True for a statement that does not fit the schema. A process that reads the store for another reports it as `INTERNAL_ERROR`. */
export function isOfStatement(error: unknown): boolean {
  return systemErrorCode(error) === 'SQLITE_ERROR' || systemErrorCode(error) === 'INTERNAL_ERROR';
}

/** An error of the file system before SQLite is opened. */
export function directoryError(error: unknown, directory: string): ParleyError {
  if (isDiskFull(error)) return storageFull(directory, error);
  return new ParleyError(
    'STORE_UNSAFE',
    `The data directory ${directory} cannot be used: ${reason(error)}.`,
    {
      hint: `Make it a directory that you may write, ${elsewhere}.`,
      cause: error,
    },
  );
}

function storageFull(path: string, cause: unknown): ParleyError {
  return new ParleyError('STORAGE_FULL', `The disk of ${path} is full.`, {
    hint: 'This was not kept; what was kept before is intact. Free some space and try again.',
    cause,
  });
}

/** The failure of a search that found the disk full. A search writes only if very many messages are not in the index yet. */
export function noRoomToIndex(failure: ParleyError): ParleyError {
  return failure.with({
    hint: 'Very many messages are not in the search index yet, and there is no room to add them. All messages are intact. Free some space and search again.',
  });
}

function damagedHint(path: string): string {
  const backup = newestBackup(path);
  const found =
    backup === null
      ? 'There is no backup beside it.'
      : `The newest backup beside it is a store to copy in its place: ${backup}.`;
  return `Nothing was overwritten. Move the damaged file aside first, with its -wal and -shm. ${found}`;
}

function newestBackup(path: string): string | null {
  const prefix = `${basename(path)}.backup-v`;
  try {
    const newest = readdirSync(dirname(path))
      .filter((name) => name.startsWith(prefix))
      .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))
      .at(-1);
    return newest === undefined ? null : join(dirname(path), newest);
  } catch {
    return null;
  }
}

/** True if the disk is full. Several of SQLite's error codes hide that: SQLite fails to make or extend one of its own files. */
function diskIsFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(path));
    return bavail * bsize < 64 * 1024;
  } catch {
    return false;
  }
}

/**
 * The error if the process may open no more files; null otherwise. SQLite's error does not tell this, so the directory is opened a few
 * times. The store itself is not opened, because closing it would drop SQLite's locks. The message names no path, because callers of a
 * server read it, too.
 */
function outOfFiles(path: string): ParleyError | null {
  const opened: number[] = [];
  try {
    while (opened.length < filesOfStore) opened.push(openSync(dirname(path), 'r'));
    return null;
  } catch (cause) {
    if (!isOutOfFiles(cause)) return null;
    const message = 'The store cannot be opened: no more files may be opened.';
    return new ParleyError('UNAVAILABLE', message, { hint: outOfFilesHint, cause });
  } finally {
    for (const file of opened) closeSync(file);
  }
}

function reason(error: unknown): string {
  const code = systemErrorCode(error);
  const place = error instanceof Error && 'path' in error ? String(error.path) : 'a part of it';
  const reasons: Readonly<Record<string, string>> = {
    ENOTDIR: `${place} is not below a directory`,
    EEXIST: `${place} is not a directory`,
    EACCES: 'permission denied',
    EPERM: 'the operation is not permitted',
    EROFS: 'the file system is read-only',
    ENOENT: `${place} cannot be made`,
  };
  return reasons[code] ?? (error instanceof Error ? error.message : String(error));
}
