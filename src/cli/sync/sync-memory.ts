// The memory of a sync: the agreements of two sides, in a file on this machine, in the order of the listings. It contains only hashes, no titles
// and no texts. A running sync writes the new memory beside the old one; what a stopped sync has written is merged into the old one by the next.
//
//   KEY.jsonl         the memory: one agreement per line
//   KEY.part.jsonl    the agreements of the running sync so far, in the same order
//   KEY.forks.jsonl   its agreements on forks that it created, in no order
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { holdFileLock, type LoadLocks } from '../../system/file-lock.ts';
import { dataFileFailure, makeDataDirectory } from '../data-files.ts';
import type { Agreement } from './agreement.ts';
import { compareOrder, hasValidTime } from './side.ts';

/** How many characters are written at a time. */
const writeSize = 32 * 1024;

interface Paths {
  readonly agreements: string;
  readonly part: string;
  readonly forks: string;
  readonly next: string;
}

export class SyncMemory {
  readonly #paths: Paths;
  readonly #release: () => void;
  #lines = '';

  /** Rejects with `STORE_BUSY` while another process syncs the same two sides. `forgets` starts with an empty memory. */
  static async open(
    dataDirectory: string,
    key: string,
    { locks, forgets }: { readonly locks: LoadLocks; readonly forgets: boolean },
  ): Promise<SyncMemory> {
    const directory = join(dataDirectory, 'sync');
    makeDataDirectory(directory);
    const path = join(directory, key);
    const release = await holdFileLock({ path: `${path}.lock`, locks }, 'a sync of the same two stores');
    const memory = new SyncMemory(path, release);
    try {
      if (forgets) memory.#forget();
      else await memory.#mergeFiles(false);
      return memory;
    } catch (error) {
      release();
      throw error;
    }
  }

  private constructor(path: string, release: () => void) {
    this.#paths = {
      agreements: `${path}.jsonl`,
      part: `${path}.part.jsonl`,
      forks: `${path}.forks.jsonl`,
      next: `${path}.next.jsonl`,
    };
    this.#release = release;
  }

  /** The agreements of earlier syncs, in the order of the listings. */
  agreements(): AsyncGenerator<Agreement, void> {
    return readLines(this.#paths.agreements);
  }

  /** Adds the next agreement, in the order of the listings. `flush` writes it. */
  add(agreement: Agreement): void {
    this.#lines += `${JSON.stringify(agreement)}\n`;
    if (this.#lines.length > writeSize) this.flush();
  }

  addFork(agreement: Agreement): void {
    this.#append(this.#paths.forks, `${JSON.stringify(agreement)}\n`);
  }

  flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '') this.#append(this.#paths.part, lines);
  }

  /** Call it when every session was processed. Agreements that were not added are forgotten. */
  async finish(): Promise<void> {
    this.flush();
    await this.#mergeFiles(true);
  }

  close(): void {
    try {
      this.flush();
    } finally {
      this.#release();
    }
  }

  #append(path: string, lines: string): void {
    try {
      appendFileSync(path, lines, { mode: 0o600 });
    } catch (error) {
      throw dataFileFailure(error, path);
    }
  }

  #forget(): void {
    for (const path of Object.values(this.#paths)) rmSync(path, { force: true });
  }

  /** Merges the three files into one. If `isComplete`, the part replaces the old memory. */
  async #mergeFiles(isComplete: boolean): Promise<void> {
    const { agreements, part, forks, next } = this.#paths;
    if (!isComplete && !exists(part) && !exists(forks)) return;
    try {
      const file = openSync(next, 'w', 0o600);
      try {
        let lines = '';
        for await (const agreement of mergedAgreements(this.#paths, isComplete)) {
          lines += `${JSON.stringify(agreement)}\n`;
          if (lines.length < writeSize) continue;
          writeSync(file, lines);
          lines = '';
        }
        writeSync(file, lines);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(next, agreements);
      for (const path of [part, forks]) rmSync(path, { force: true });
    } catch (error) {
      throw dataFileFailure(error, next);
    }
  }
}

async function* mergedAgreements(
  { agreements, part, forks }: Paths,
  isComplete: boolean,
): AsyncGenerator<Agreement, void> {
  let last: Agreement | null = null;
  const forksById = new Map<string, Agreement>();
  for await (const agreement of readLines(forks)) forksById.set(agreement.session_id, agreement);
  const sorted = [...forksById.values()].sort(compareOrder);
  async function* settled(): AsyncGenerator<Agreement, void> {
    for await (const agreement of readLines(part)) {
      last = agreement;
      yield agreement;
    }
    if (isComplete) return;
    for await (const agreement of readLines(agreements))
      if (last === null || compareOrder(agreement, last) > 0) yield agreement;
  }
  for await (const agreement of settled()) {
    for (let fork = sorted[0]; fork !== undefined && compareOrder(fork, agreement) < 0; fork = sorted[0]) {
      yield fork;
      sorted.shift();
    }
    // An agreement on the fork from the listing is newer.
    if (sorted[0]?.session_id === agreement.session_id) sorted.shift();
    yield agreement;
  }
  yield* sorted;
}

/** An incomplete line, or one that is not an agreement, ends the file. A missing file counts as empty. */
async function* readLines(path: string): AsyncGenerator<Agreement, void> {
  if (!exists(path)) return;
  const file = await open(path);
  try {
    for await (const line of file.readLines()) {
      let agreement: Agreement;
      try {
        agreement = JSON.parse(line);
      } catch {
        return;
      }
      if (!isAgreement(agreement)) return;
      yield agreement;
    }
  } finally {
    await file.close();
  }
}

function isAgreement(value: Partial<Agreement> | null): boolean {
  return (
    typeof value?.created_at === 'string' &&
    hasValidTime({ created_at: value.created_at }) &&
    typeof value.session_id === 'string' &&
    typeof value.fields === 'object' &&
    value.fields !== null &&
    Array.isArray(value.past)
  );
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
