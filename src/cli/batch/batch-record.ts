// Records in the data directory which batch an output file belongs to, before the first request is sent. After a kill, the resumed batch
// sends its requests with the same keys, so a server that honours keys runs no turn twice.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { replaceFile } from '../../system/atomic-file.ts';
import { holdFileLock, type LoadLocks } from '../../system/file-lock.ts';
import { readSmallFile } from '../../system/small-file.ts';
import { makeDataDirectory } from '../data-files.ts';

/** Servers keep keys for a day. An older record is useless, and its inode may belong to another file by now. */
const keptMs = 24 * 60 * 60 * 1000;
/** Much longer than any name of a batch. */
const maxBytes = 4096;

export class BatchRecords {
  readonly #directory: string;
  readonly #now: () => number;

  constructor(dataDirectory: string, now: () => number) {
    this.#directory = join(dataDirectory, 'chat-batches');
    this.#now = now;
  }

  /** The name of the batch; null if the file has no record. `file` is the result of `identityOf`. */
  find(file: string): string | null {
    try {
      const path = this.#path(file);
      return this.#isOld(path) ? null : readSmallFile(path, maxBytes).trim() || null;
    } catch {
      return null;
    }
  }

  /**
   * Stores the record, and replaces an earlier one of the file. The batch also works without a record: only lines that are running when the
   * process is killed are later sent as new. So a failed write is ignored.
   */
  store(file: string, batch: string): void {
    try {
      makeDataDirectory(this.#directory);
      for (const name of readdirSync(this.#directory).filter((other) => /^\d+-\d+$/.test(other))) {
        const path = join(this.#directory, name);
        if (this.#isOld(path)) rmSync(path, { force: true });
      }
      replaceFile(this.#path(file), `${batch}\n`, { durable: true });
    } catch {}
  }

  /** Locks the file for this process. Resolves to a function that releases it; rejects with `STORE_BUSY` while another process holds it. */
  async lock(file: string, locks: LoadLocks): Promise<() => void> {
    makeDataDirectory(this.#directory);
    const path = resolve(file);
    const folder = dirname(path);
    // The real path of the directory, so that two paths to one file use the same lock.
    const place = existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
    const name = createHash('sha256').update(place).digest('hex').slice(0, 32);
    // The lock file stays, because another process may be about to lock it.
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
