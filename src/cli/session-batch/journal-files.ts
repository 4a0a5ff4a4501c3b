// Finds the files of batches, and removes the journals and drafts that nobody needs any more. The newest journals stay whatever their age,
// because the clock of the machine may be far ahead when a batch begins.
import { existsSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';

/** How long (ms) a journal is kept for a later restore. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
/** How long (ms) the draft of a dead process is kept. */
const draftMs = 24 * 60 * 60 * 1000;
/** How many journals of each type are kept in any case. */
const keptCount = 100;

interface FoundFile {
  readonly path: string;
  /** When it was last changed (epoch ms). */
  readonly changed: number;
}

/** The regular files of the directory with this extension; none if there is no such directory. */
export function filesWith(directory: string, extension: string): readonly FoundFile[] {
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names
    .filter((name) => name.endsWith(extension))
    .flatMap((name) => {
      const path = join(directory, name);
      const status = fileStatus(path);
      return status === null ? [] : [{ path, changed: status.mtimeMs }];
    });
}

/** Null unless the path leads to a regular file. To open a named pipe would wait for its writer, and a device has no end. */
export function fileStatus(path: string): Stats | null {
  try {
    const status = statSync(path);
    return status.isFile() ? status : null;
  } catch {
    return null;
  }
}

/** `extension` is that of a type of journal. */
export function removeOldJournals(directory: string, extension: string, now: number): void {
  const newestFirst = filesWith(directory, extension).toSorted((one, other) => other.changed - one.changed);
  removeOlder(newestFirst.slice(keptCount), now - keptMs);
}

export function removeOldDrafts(directory: string, now: number): void {
  removeOlder(filesWith(directory, '.draft'), now - draftMs);
}

function removeOlder(files: readonly FoundFile[], time: number): void {
  for (const { path, changed } of files) if (changed < time) rmSync(path, { force: true });
}
