// The journal of a batch: a file that knows what was asked for and what became of it, whatever happens to the process. All ids
// stand in it, synced, before the first is touched; then a line for each that is about to be sent and each that was answered.
// It holds ids alone, no titles and no texts.
//
//   ses_a                     an id (a line that begins with a space: one given again)
//   ⇥{"version":1,…}          the seal: without it the batch never began
//   sent 1000                 the ids before number 1000 may have been sent
//   0 deleted                 what became of number 0; `unsure` where no answer came
//   settled                   no other than those was sent
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileFailure } from '../../config/file-failure.ts';
import { holdFileLock } from '../../config/held-lock.ts';
import { moveIntoPlace } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import type { LoadLocks } from '../../system/file-lock.ts';
import { IdList } from './id-list.ts';

/** What a batch belongs to: it is gone on with nowhere else. */
export interface BatchOwner {
  readonly origin: string;
  /** Null where the server does not tell: then the key decides. */
  readonly project_id: string | null;
  /** SHA-256 of the key, its beginning. */
  readonly key: string;
}

export interface BatchSeal extends BatchOwner {
  readonly version: 1;
  readonly batch: string;
  readonly made_at: string;
  readonly ids: number;
  /** SHA-256 of all above the seal: a journal that was edited is not gone on with. Left out by the first journals. */
  readonly sum?: string;
  readonly ignore_missing: boolean;
}

export interface JournalResult {
  readonly number: number;
  readonly status: string;
  readonly code: string | null;
}

/** What a process needs to be the only one at work on a batch. */
export interface BatchHolder {
  readonly locks: LoadLocks;
  readonly now: () => number;
}

/** Kept for undoing; and how long a draft is left that a process which died had begun. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
const draftMs = 24 * 60 * 60 * 1000;
const remedy = 'Make it a directory that you may write to, or set PARLEY_DATA_DIR to another.';
const dataSynced = promisify(fdatasync);

export function batchDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'batches');
}

export function journalPath(dataDirectory: string, batch: string): string {
  return join(batchDirectory(dataDirectory), `${batch}.journal`);
}

/** The lock of a journal, which goes when the journal has gone. */
export function lockPath(journal: string): string {
  return journal.replace(/journal$/, 'lock');
}

/** Ids that are being collected, in a file that becomes the journal or is removed. */
export class BatchDraft {
  readonly batch: string;
  readonly list: IdList;
  readonly #directory: string;
  readonly #holder: BatchHolder;
  #file: number | null = null;
  #isSealed = false;

  constructor(dataDirectory: string, batch: string, holder: BatchHolder) {
    this.batch = batch;
    this.#holder = holder;
    this.#directory = batchDirectory(dataDirectory);
    this.list = new IdList({
      open: () => this.#open(),
      failure: (error) => fileFailure(error, this.#path, 'written', remedy),
    });
  }

  /** All ids are on disk, under the name of the batch, when this returns. */
  async seal(facts: Omit<BatchSeal, 'sum'>): Promise<BatchJournal> {
    try {
      const file = this.list.intoFile();
      const path = join(this.#directory, `${this.batch}.journal`);
      const seal: BatchSeal = { ...facts, sum: sumOf(file, this.list.bytes) };
      append(file, `\t${JSON.stringify(seal)}\n`, this.list.bytes);
      moveIntoPlace(this.#path, path, { durable: true });
      this.#isSealed = true;
      removeOld(this.#directory, this.#holder.now());
      return await BatchJournal.open(path, this.batch, this.#holder);
    } catch (error) {
      throw fileFailure(error, this.#path, 'written', remedy);
    }
  }

  /** Lets go of the file; one that has not become a journal is removed. */
  close(): void {
    if (this.#file === null) return;
    closeSync(this.#file);
    this.#file = null;
    if (!this.#isSealed) rmSync(this.#path, { force: true });
  }

  get #path(): string {
    return join(this.#directory, `${this.batch}.draft`);
  }

  #open(): number {
    try {
      makePrivateDirectory(this.#directory);
      this.#file = openSync(this.#path, 'wx+', 0o600);
      return this.#file;
    } catch (error) {
      throw fileFailure(error, this.#path, 'written', remedy);
    }
  }
}

export class BatchJournal {
  readonly path: string;
  readonly file: number;
  readonly #letGo: () => void;
  /** A line that a crash has cut in two must not take the next one with it. */
  #lines: string;
  #isBroken = false;

  /** Opened to be read, and added to at its end. `STORE_BUSY` while another process has it open. */
  static async open(path: string, batch: string, { locks }: BatchHolder): Promise<BatchJournal> {
    const letGo = await holdFileLock({ path: lockPath(path), locks }, `the batch ${batch}`);
    try {
      const file = openSync(path, 'a+', 0o600);
      const { size } = fstatSync(file);
      const last = Buffer.alloc(1);
      readSync(file, last, 0, 1, Math.max(size - 1, 0));
      return new BatchJournal(path, file, letGo, last[0] === 0x0a ? '' : '\n');
    } catch (error) {
      letGo();
      throw fileFailure(error, path, 'written', remedy);
    }
  }

  private constructor(path: string, file: number, letGo: () => void, lines: string) {
    this.path = path;
    this.file = file;
    this.#letGo = letGo;
    this.#lines = lines;
  }

  /** On disk when it resolves: what may have been sent is known even after a power cut. */
  async mark(number: number): Promise<void> {
    if (this.#isBroken) throw new Error(`${this.path} cannot be written any more`);
    this.#lines += `sent ${number}\n`;
    this.flush();
    try {
      await dataSynced(this.file);
    } catch (error) {
      throw this.#unwritten(error);
    }
  }

  /** Noted; written with what comes next, or by `flush`. */
  record(results: readonly JournalResult[]): void {
    for (const { number, status, code } of results)
      this.#lines += `${number} ${status}${code ? ` ${code}` : ''}\n`;
  }

  /** Rejects the first time that it cannot be written; from then on the journal stays as it is. */
  flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines !== '' && !this.#isBroken) this.#append(lines);
  }

  /**
   * Nothing is on its way any more. Not said where a result is missing: that one stays in doubt. The results are on disk before: a power
   * cut that left this line alone would leave no doubt about what was sent.
   */
  settle(): void {
    if (this.#isBroken) return;
    this.flush();
    try {
      fdatasyncSync(this.file);
    } catch (error) {
      throw this.#unwritten(error);
    }
    this.#lines += 'settled\n';
    this.flush();
  }

  close(): void {
    try {
      closeSync(this.file);
    } catch (error) {
      throw fileFailure(error, this.path, 'written', remedy);
    } finally {
      this.#letGo();
    }
  }

  #append(lines: string): void {
    try {
      append(this.file, lines);
    } catch (error) {
      throw this.#unwritten(error);
    }
  }

  #unwritten(error: unknown): unknown {
    this.#isBroken = true;
    return fileFailure(error, this.path, 'written', remedy);
  }
}

/** Of the beginning of a file. */
export function sumOf(file: number, bytes: number): string {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(64 * 1024);
  for (let at = 0; at < bytes; ) {
    const size = readSync(file, chunk, 0, Math.min(chunk.length, bytes - at), at);
    if (size === 0) break;
    hash.update(chunk.subarray(0, size));
    at += size;
  }
  return hash.digest('hex');
}

function append(file: number, text: string, position: number | null = null): void {
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; ) {
    from += writeSync(file, bytes, from, bytes.length - from, position === null ? null : position + from);
  }
}

/** For undoing, three months; what has no seal, a day. */
function removeOld(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    const most = name.endsWith('.draft')
      ? draftMs
      : name.endsWith('.journal')
        ? keptMs
        : Number.POSITIVE_INFINITY;
    const path = join(directory, name);
    if (name.endsWith('.lock')) removeUnusedLock(path);
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - touched > most) rmSync(path, { force: true });
  }
}

/** A lock without its journal is nobody's: it is taken only where the journal is. */
function removeUnusedLock(path: string): void {
  if (!existsSync(path.replace(/lock$/, 'journal'))) rmSync(path, { force: true });
}
