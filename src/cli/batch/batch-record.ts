// Records which batch an output file belongs to, in the data directory, before the first request is sent. A batch that is resumed after a
// kill then gives its requests the same keys as before, and a server that honours the keys does nothing twice.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { holdFileLock } from '../../config/held-lock.ts';
import { replaceFile } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import type { LoadLocks } from '../../system/file-lock.ts';

/** Servers keep keys for a day. An older record is of no use, and its inode may be that of another file. */
const keptMs = 24 * 60 * 60 * 1000;

export class BatchRecords {
  readonly #directory: string;
  readonly #now: () => number;

  constructor(dataDirectory: string, now: () => number) {
    this.#directory = join(dataDirectory, 'chat-batches');
    this.#now = now;
  }

  /** `file`: as `identityOf` gives it. Null where there is no record of the file. */
  find(file: string): string | null {
    try {
      const path = this.#path(file);
      return this.#isOld(path) ? null : readFileSync(path, 'utf8').trim() || null;
    } catch {
      return null;
    }
  }

  /** Replaces an earlier record of the file. */
  keep(file: string, batch: string): void {
    makePrivateDirectory(this.#directory);
    for (const name of readdirSync(this.#directory).filter((other) => /^\d+-\d+$/.test(other))) {
      const path = join(this.#directory, name);
      if (this.#isOld(path)) rmSync(path, { force: true });
    }
    replaceFile(this.#path(file), `${batch}\n`, { durable: true });
  }

  /** Holds the file for this process until the function that it resolves with is called. `STORE_BUSY` while another process holds it. */
  async hold(file: string, locks: LoadLocks): Promise<() => void> {
    makePrivateDirectory(this.#directory);
    const path = resolve(file);
    const folder = dirname(path);
    // The real name of the folder, so that two paths to the same file have the same lock.
    const place = existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
    const name = createHash('sha256').update(place).digest('hex').slice(0, 32);
    // The lock file is empty and stays: another process may be about to lock it.
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
