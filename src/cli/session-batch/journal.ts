// The journal of a batch: a file that records what was asked for and what was done, even if the process is killed. All ids are on disk
// before the first is sent. Then each id that is about to be sent and each result gets a line. There are no titles and no texts in it, but tags.
//
//   ses_a                     an id (behind a space: a repeated id)
//   ⇥{"version":1,…}          the seal: a batch without it never began
//   sent 1000                 the ids before number 1000 may have been sent
//   0 deleted                 the result of number 0; `unsure` if no answer came
//   settled                   only ids with a result were sent
//   0 tagged work,draft       the same with what it changed, for a batch that changes the ordering
//   restored 998 2026-…       a restore of the batch restored so many, and ended then
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
import { moveIntoPlace } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { holdFileLock, type LoadLocks } from '../../system/file-lock.ts';
import type { BatchAction } from './batch-kind.ts';
import { IdList } from './id-list.ts';

/** Where a batch was begun. Only the same server and project can continue it. */
export interface BatchOwner {
  readonly origin: string;
  /** Null if the server does not tell the project. The key then identifies the owner. */
  readonly project_id: string | null;
  /** The beginning of the key's SHA-256. */
  readonly key: string;
}

export interface BatchSeal extends BatchOwner {
  /** 1 for a deletion. An earlier Parley, which takes every batch for a deletion, reads no other number. */
  readonly version: 1 | 2;
  /** Missing in version 1. */
  readonly action?: BatchAction;
  readonly batch: string;
  readonly made_at: string;
  readonly ids: number;
  /**
   * The SHA-256 of the lines above the seal. A batch whose journal was edited does not continue. The earliest journals have no checksum.
   */
  readonly sum?: string;
  readonly ignore_missing: boolean;
}

export interface JournalResult {
  readonly number: number;
  readonly status: string;
  /** What was changed; only in a batch that changes the ordering. */
  readonly changed?: readonly string[];
}

/** What a process needs to hold a batch alone. */
export interface BatchHolder {
  readonly locks: LoadLocks;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** How long (ms) a journal is kept for a later restore. */
const keptMs = 90 * 24 * 60 * 60 * 1000;
/** How long (ms) the draft of a dead process is kept. */
const draftMs = 24 * 60 * 60 * 1000;
const remedy = 'Make it a directory that you may write to, or set PARLEY_DATA_DIR to another.';
/** How many characters of results may wait for a write. */
const mostWaiting = 64 * 1024;
const dataSynced = promisify(fdatasync);

export function batchDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'batches');
}

export function journalPath(dataDirectory: string, batch: string): string {
  return join(batchDirectory(dataDirectory), `${batch}.journal`);
}

/** The lock file of a journal. It is removed after the journal. */
export function lockPath(journal: string): string {
  return journal.replace(/journal$/, 'lock');
}

/** The ids of a batch while they are collected. Their file becomes the journal, or is removed. */
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

  /** Resolves when all ids are on disk under the name of the batch. */
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
  readonly #release: () => void;
  /** Lines that wait to be written. The first one begins with a line end if a crash has cut the line before it. */
  #lines: string;
  #failure: unknown = null;

  /** Throws `STORE_BUSY` while another process has it open. */
  static async open(path: string, batch: string, { locks }: BatchHolder): Promise<BatchJournal> {
    const release = await holdFileLock({ path: lockPath(path), locks }, `the batch ${batch}`);
    try {
      const file = openSync(path, 'a+', 0o600);
      const { size } = fstatSync(file);
      const last = Buffer.alloc(1);
      readSync(file, last, 0, 1, Math.max(size - 1, 0));
      return new BatchJournal(path, file, release, last[0] === 0x0a ? '' : '\n');
    } catch (error) {
      release();
      throw fileFailure(error, path, 'written', remedy);
    }
  }

  private constructor(path: string, file: number, release: () => void, lines: string) {
    this.path = path;
    this.file = file;
    this.#release = release;
    this.#lines = lines;
  }

  /** Resolves when the mark is on disk. After a power cut it is then still known which ids may have been sent. */
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

  /** Adds results. They are written when there are many of them, with the next mark, or by `flush`. */
  record(results: readonly JournalResult[]): void {
    for (const { number, status, changed = [] } of results)
      this.#lines += `${number} ${status}${changed.length === 0 ? '' : ` ${changed.join(',')}`}\n`;
    if (this.#lines.length > mostWaiting) this.flush();
  }

  /** Throws at the first failed write. The journal stays as it is from then on. */
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
   * Records that no id is being sent. The results are on disk first: if a power cut left this line alone, ids with lost results would pass
   * for ids that were never sent.
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

  /** Records that a restore of the batch has ended. */
  recordRestored(sessions: number, at: number): void {
    this.#lines += `restored ${sessions} ${new Date(at).toISOString()}\n`;
    this.flush();
  }

  close(): void {
    try {
      closeSync(this.file);
    } catch (error) {
      throw fileFailure(error, this.path, 'written', remedy);
    } finally {
      this.#release();
    }
  }

  #unwritten(error: unknown): unknown {
    this.#failure = fileFailure(error, this.path, 'written', remedy);
    return this.#failure;
  }
}

/** The SHA-256 of the first bytes of a file. */
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

/** Removes the lock of a journal that is gone, which nobody holds. */
function removeUnusedLock(path: string): void {
  if (!existsSync(path.replace(/lock$/, 'journal'))) rmSync(path, { force: true });
}
