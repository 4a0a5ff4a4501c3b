// Which batch an output file belongs to, kept in the data directory before the first request is sent: so a batch that goes on after a
// kill names its requests as before, and a server that honours their keys does nothing twice.
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory, replacePrivateFile } from '../../config/private-file.ts';

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
    replacePrivateFile(this.#path(file), `${batch}\n`);
  }

  #isOld(path: string): boolean {
    const status = statSync(path, { throwIfNoEntry: false });
    return status !== undefined && this.#now() - status.mtimeMs > keptMs;
  }

  #path(file: string): string {
    return join(this.#directory, file);
  }
}
