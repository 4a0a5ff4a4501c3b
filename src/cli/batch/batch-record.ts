// Which batch an output file belongs to, kept in the data directory before the first request is sent: so a batch that goes on after a
// kill names its requests as before, and a server that honours their keys does nothing twice.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { holdFileLock } from '../../config/held-lock.ts';
import { replaceFile } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import type { LoadLocks } from '../../system/file-lock.ts';

/** Servers keep keys for a day: after that, a record says nothing any more, and its file may be another one. */
const keptMs = 24 * 60 * 60 * 1000;

export class BatchRecords {
  readonly #directory: string;
  readonly #now: () => number;

  constructor(dataDirectory: string, now: () => number) {
    this.#directory = join(dataDirectory, 'chat-batches');
    this.#now = now;
  }

  /** `file` as `identityOf` gives it. Null where there is no record of it. */
  find(file: string): string | null {
    try {
      const path = this.#path(file);
      return this.#isOld(path) ? null : readFileSync(path, 'utf8').trim() || null;
    } catch {
      return null;
    }
  }

  /** In place of what was recorded of a file in this place before. */
  keep(file: string, batch: string): void {
    makePrivateDirectory(this.#directory);
    for (const name of readdirSync(this.#directory).filter((other) => /^\d+-\d+$/.test(other))) {
      const path = join(this.#directory, name);
      if (this.#isOld(path)) rmSync(path, { force: true });
    }
    replaceFile(this.#path(file), `${batch}\n`, { durable: true });
  }

  /** Keeps the file to this process, until what is returned is called. `STORE_BUSY` where another is at work on it. */
  async hold(file: string, locks: LoadLocks): Promise<() => void> {
    makePrivateDirectory(this.#directory);
    const path = resolve(file);
    const folder = dirname(path);
    // The folder by its one real name, so that two ways to the same file meet.
    const place = existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
    const name = createHash('sha256').update(place).digest('hex').slice(0, 32);
    // The file of the lock is empty and stays: to remove it could take it from a process that is about to lock it.
    return holdFileLock({ path: this.#path(`output-${name}.lock`), locks }, `the batch of ${file}`);
  }

  #isOld(path: string): boolean {
    const status = statSync(path, { throwIfNoEntry: false });
    return status !== undefined && this.#now() - status.mtimeMs > keptMs;
  }

  #path(file: string): string {
    return join(this.#directory, file);
  }
}
