// The journal of a batch: a file that says what was asked for and what became of it, whatever happens to the process. All ids are in it,
// on disk, before the first is sent. Then each id that is about to be sent and each result gets a line. It holds no titles and no texts.
//
//   ses_a                     an id (after a space: an id that was given again)
//   ⇥{"version":1,…}          the seal: without it the batch never began
//   sent 1000                 the ids before number 1000 may have been sent
//   0 deleted                 the result of number 0; `unsure` where no answer came
//   settled                   no id but those with a result was sent
import { createHash } from 'node:crypto';
import {
  appendFileSync,
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
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileFailure } from '../../config/file-failure.ts';
import { holdFileLock } from '../../config/held-lock.ts';
import { moveIntoPlace } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import type { LoadLocks } from '../../system/file-lock.ts';
import { IdList } from './id-list.ts';

/** Where a batch was begun. It goes on nowhere else. */
export interface BatchOwner {
  readonly origin: string;
  /** Null where the server does not tell it: then the key decides. */
  readonly project_id: string | null;
  /** The beginning of the SHA-256 of the key. */
  readonly key: string;
}

export interface BatchSeal extends BatchOwner {
  readonly version: 1;
  readonly batch: string;
  readonly made_at: string;
  readonly ids: number;
  /** SHA-256 of the lines above the seal: a batch whose journal was edited does not go on. The first journals have none. */
  readonly sum?: string;
  readonly ignore_missing: boolean;
}

export interface JournalResult {
  readonly number: number;
  readonly status: string;
}

/** What a process needs to hold a batch for itself. */
export interface BatchHolder {
  readonly locks: LoadLocks;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** A journal is kept so long, for undoing. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
/** A draft of a process that died is kept so long. */
const draftMs = 24 * 60 * 60 * 1000;
const remedy = 'Make it a directory that you may write to, or set PARLEY_DATA_DIR to another.';
/** Characters of results that may wait to be written. */
const mostWaiting = 64 * 1024;
const dataSynced = promisify(fdatasync);

export function batchDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'batches');
}

export function journalPath(dataDirectory: string, batch: string): string {
  return join(batchDirectory(dataDirectory), `${batch}.journal`);
}

/** The lock file of a journal, which is removed after the journal. */
export function lockPath(journal: string): string {
  return journal.replace(/journal$/, 'lock');
}

/** Ids that are being collected. Their file becomes the journal, or is removed. */
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
      random: () => holder.random(),
    });
  }

  /** All ids are on disk, under the name of the batch, when this resolves. */
  async seal(facts: Omit<BatchSeal, 'sum'>): Promise<BatchJournal> {
    try {
      const file = this.list.intoFile();
      const path = join(this.#directory, `${this.batch}.journal`);
      const seal: BatchSeal = { ...facts, sum: sumOf(file, this.list.bytes) };
      appendFileSync(file, `\t${JSON.stringify(seal)}\n`);
      moveIntoPlace(this.#path, path, { durable: true });
      this.#isSealed = true;
      removeOld(this.#directory, this.#holder.now());
      return await BatchJournal.open(path, this.batch, this.#holder);
    } catch (error) {
      throw fileFailure(error, this.#path, 'written', remedy);
    }
  }

  /** Closes the file, and removes it unless it has become a journal. */
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
      this.#file = openSync(this.#path, 'ax+', 0o600);
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
  /** Lines to be written. It begins with a line end behind a line that a crash has cut. */
  #lines: string;
  #failure: unknown = null;

  /** `STORE_BUSY` while another process has it open. */
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

  /** The mark is on disk when this resolves: after a power cut, too, it is known which ids may have been sent. */
  async mark(number: number): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    this.#lines += `sent ${number}\n`;
    this.flush();
    try {
      await dataSynced(this.file);
    } catch (error) {
      throw this.#unwritten(error);
    }
  }

  /** Notes results, which are written when there are many of them, with the next mark or by `flush`. */
  record(results: readonly JournalResult[]): void {
    for (const { number, status } of results) this.#lines += `${number} ${status}\n`;
    if (this.#lines.length > mostWaiting) this.flush();
  }

  /** Throws the first time that the journal cannot be written. From then on the journal stays as it is. */
  flush(): void {
    const lines = this.#lines;
    this.#lines = '';
    if (lines === '' || this.#failure !== null) return;
    try {
      appendFileSync(this.file, lines);
    } catch (error) {
      throw this.#unwritten(error);
    }
  }

  /**
   * Says that no id is under way. The results are on disk before it says so: a power cut that left this line alone would make ids whose
   * results are lost pass for ids that were never sent.
   */
  settle(): void {
    if (this.#failure !== null) return;
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

  #unwritten(error: unknown): unknown {
    this.#failure = fileFailure(error, this.path, 'written', remedy);
    return this.#failure;
  }
}

/** SHA-256 of so many bytes from the beginning of a file. */
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

/** Nobody holds the lock of a journal that is gone. */
function removeUnusedLock(path: string): void {
  if (!existsSync(path.replace(/lock$/, 'journal'))) rmSync(path, { force: true });
}
