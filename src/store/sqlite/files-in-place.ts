// Notices that the file of an open store, or its log, was deleted or replaced. SQLite keeps using such a file, and the system removes it
// when the last process closes it. What is written there is lost.
import { realpathSync, statSync } from 'node:fs';
import { ParleyError } from '../../service/errors.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';

/** Writes within this time (ms) share a check, which takes up to 50 µs. What was written so shortly before is in the lost file, too. */
export const checkEveryMs = 100;

/** Identifies the file that has this name now; null if there is none. */
export function identityOf(path: string): string | null {
  const status = statSync(path, { bigint: true, throwIfNoEntry: false });
  return status === undefined ? null : `${status.dev} ${status.ino}`;
}

export class FilesInPlace {
  readonly #files: readonly (readonly [path: string, identity: string | null])[];
  #checkedAt = monotonicMs();

  /** Call it when the store was opened and read. `identity` is that of the file when it was opened. */
  constructor(path: string, identity: string | null) {
    // SQLite has the log beside the target of a link.
    const log = `${realpathSync.native(path)}-wal`;
    this.#files = [
      [path, identity],
      [log, identityOf(log)],
    ];
  }

  get areInPlace(): boolean {
    return this.#files.every(([path, identity]) => identityOf(path) === identity);
  }

  /** Call it before a write. Throws `STORE_UNSAFE` if one of the files is not in its place any more. */
  require(): void {
    const now = monotonicMs();
    if (now - this.#checkedAt < checkEveryMs) return;
    for (const [path, identity] of this.#files) {
      const found = identityOf(path);
      if (found !== identity) throw notInPlace(path, found === null ? 'deleted' : 'replaced by another file');
    }
    this.#checkedAt = now;
  }
}

function notInPlace(path: string, change: string): ParleyError {
  return new ParleyError('STORE_UNSAFE', `The file ${path} of the store was ${change} while it was open.`, {
    hint: 'Nothing was stored. End every Parley that uses this store, and start again to use the store that is there now.',
  });
}
