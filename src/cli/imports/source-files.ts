// Finds the files of a path: the file itself, all files below a directory, or those of a zip archive. Links inside a directory are not
// followed.
import {
  closeSync,
  createReadStream,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { fileBytes } from '../../system/file-bytes.ts';
import { isStoreFile, refuseStoreFile } from '../../system/store-files.ts';
import { unreadableFile } from '../terminal/file-message.ts';
import { validTime } from './foreign-value.ts';
import { importLimits, tooMany } from './import-limits.ts';
import { type FoundFile, type SourceFile, sourceNames } from './source.ts';

const pathHint = 'Name a readable file, directory or zip archive, or - for stdin.';

/** `isNamed` is true for a file that the user named itself. */
export async function* filesAt(
  path: string,
  maxFiles: number = importLimits.files,
): AsyncGenerator<FoundFile, void> {
  refuseStoreFile(path);
  let status: ReturnType<typeof statSync>;
  try {
    status = statSync(path);
  } catch (error) {
    const hint = (sourceNames as readonly string[]).includes(path)
      ? `To find the conversations of ${path} on this machine: parley sessions import --scan`
      : pathHint;
    throw unreadableFile(path, error, hint);
  }
  if (status.isDirectory()) yield* filesIn(path, maxFiles);
  else if (status.isFile() && isZip(path)) yield* (await import('./zip-files.ts')).filesOfZip(path);
  else yield { file: fileAt(path, status.isFile() ? status : null), isNamed: true };
}

function* filesIn(directory: string, maxFiles: number): Generator<FoundFile> {
  const waiting: { readonly path: string; readonly depth: number }[] = [{ path: directory, depth: 0 }];
  let count = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { path, depth } = next;
    let names: readonly string[];
    try {
      // Sorted, so that every import has the same order.
      names = readdirSync(path).sort();
    } catch (error) {
      yield { path, failure: unreadableFile(path, error, pathHint) };
      continue;
    }
    for (const name of names) {
      const inner = join(path, name);
      // Lock files hold locks of SQLite, too.
      if (isStoreFile(name) || name.endsWith('.lock')) {
        if (name.endsWith('.db')) yield { path: inner, skipped: 'store' };
        continue;
      }
      const status = statusOf(inner);
      if (status === null) continue;
      if (status instanceof ParleyError) yield { path: inner, failure: status };
      else if (status.isSymbolicLink()) yield { path: inner, skipped: 'link' };
      else if (status.isDirectory()) {
        if (depth < importLimits.directories) waiting.push({ path: inner, depth: depth + 1 });
        else
          yield {
            path: inner,
            failure: tooMany(inner, `is nested deeper than ${importLimits.directories} directories`),
          };
      } else if (status.isFile()) {
        count += 1;
        if (count > maxFiles) {
          yield { path: inner, failure: tooMany(inner, `exceeds the limit of ${maxFiles} files`) };
          return;
        }
        yield { file: fileAt(inner, status), isNamed: false };
      }
    }
  }
}

/** Null for a file that was removed meanwhile. */
function statusOf(path: string): Stats | ParleyError | null {
  try {
    const status = lstatSync(path, { throwIfNoEntry: false });
    // Such a name was decoded with U+FFFD, and no longer names the file.
    if (status === undefined && path.includes('\ufffd')) throw new Error('its name is not UTF-8');
    return status ?? null;
  } catch (error) {
    return unreadableFile(path, error, pathHint);
  }
}

/** `status` is null for a pipe or a device, which can be read only once. */
function fileAt(
  path: string,
  status: { readonly size: number; readonly mtimeMs: number } | null,
): SourceFile {
  return {
    path,
    bytes: status?.size ?? 0,
    modified: status === null ? null : validTime(Math.floor(status.mtimeMs)),
    local: status === null ? null : path,
    place: status === null ? null : { path, number: 0 },
    open: (signal) => (status === null ? fileBytes(path, signal) : readable(path, signal)),
  };
}

async function* readable(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  try {
    yield* createReadStream(path, { signal, highWaterMark: 256 * 1024 });
  } catch (error) {
    signal.throwIfAborted();
    throw unreadableFile(path, error, pathHint);
  }
}

function isZip(path: string): boolean {
  const first = Buffer.alloc(4);
  try {
    const file = openSync(path, 'r');
    try {
      readSync(file, first, 0, 4, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw unreadableFile(path, error, pathHint);
  }
  // A zip begins with its first file, or with its end if it is empty.
  return ['PK\x03\x04', 'PK\x05\x06'].includes(first.toString('latin1'));
}
