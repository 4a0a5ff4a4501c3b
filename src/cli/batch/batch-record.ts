// Records in the data directory which batch an output file belongs to, and which process writes to the file, before the first request is
// sent. After a kill, the resumed batch sends its requests with the same keys, so a server that honours keys runs no turn twice.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { replaceFile } from '../../system/atomic-file.ts';
import { holdFileLock, type LoadLocks } from '../../system/file-lock.ts';
import type { ProcessIdentity } from '../../system/process-identity.ts';
import { readSmallFile } from '../../system/small-file.ts';
import { makeDataDirectory } from '../data-files.ts';

/** Servers keep keys for a day. An older record is useless, and its inode may belong to another file by now. */
const keptMs = 24 * 60 * 60 * 1000;
/** Much longer than any record. */
const maxBytes = 4096;

interface BatchRecord {
  readonly batch: string;
  /** True while another process writes its results to the file. */
  readonly isInUse: boolean;
}

export class BatchRecords {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #identity: ProcessIdentity;

  constructor(dataDirectory: string, now: () => number, identity: ProcessIdentity) {
    this.#directory = join(dataDirectory, 'chat-batches');
    this.#now = now;
    this.#identity = identity;
  }

  /** Null if the file has no record. `file` is the result of `identityOf`. */
  find(file: string): BatchRecord | null {
    try {
      const path = this.#path(file);
      const [batch = '', writer = ''] = readSmallFile(path, maxBytes).split('\n');
      const isInUse = writer !== this.#identity.name && this.#identity.stateOf(writer) === 'running';
      return batch === '' || (!isInUse && this.#isOld(path)) ? null : { batch, isInUse };
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
        if (this.find(name) === null) rmSync(this.#path(name), { force: true });
      }
      replaceFile(this.#path(file), `${batch}\n${this.#identity.name}\n`, { durable: true });
    } catch {}
  }

  /** Records that this process writes to the file no longer. A process that has ended does not write either, so a failed write is ignored. */
  end(file: string, batch: string): void {
    try {
      // Another batch that the shell appends to the same file may have replaced the record.
      if (this.find(file)?.batch === batch) replaceFile(this.#path(file), `${batch}\n`, { durable: false });
    } catch {}
  }

  /** Locks the file for this process. Resolves to a function that releases it; rejects with `STORE_BUSY` while another process holds it. */
  async lock(file: string, locks: LoadLocks): Promise<() => void> {
    makeDataDirectory(this.#directory);
    // The real path, so that two paths to one file use the same lock.
    const name = createHash('sha256')
      .update(realPathOf(resolve(file)))
      .digest('hex')
      .slice(0, 32);
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

/** The real path of a file that may not exist yet. */
function realPathOf(path: string): string {
  const folder = dirname(path);
  if (existsSync(path)) return realpathSync(path);
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path;
}
