// The journal of a batch: a file that records what was requested and what was done, even if the process is killed. All ids are on disk before
// the first is sent. Then lines record which ids may have been sent, and each result. The file contains tags, but no titles and no texts.
//
//   ses_a                     an id (after a space: a repeated id)
//   ⇥{"version":1,…}          the seal; a batch without it never started
//   sent 1000                 the ids before number 1000 may have been sent
//   0 deleted                 the result of number 0; `unsure` if it is unknown
//   printed 1000              the results before number 1000 were printed
//   settled                   all ids that were sent have a result
//   complete 6000 998 2       nothing is left: offset of the seal, numbers of ids that are done and not found;
//                           and the last undo, if there was one
//   0 tagged work,draft       a result with what it changed, for pins, archiving and tags
//   restored 998 2026-…       the batch was undone: number of sessions and time
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { moveIntoPlace } from '../../system/atomic-file.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import { holdFileLock, type LoadLocks } from '../../system/file-lock.ts';
import { dataFileFailure, journalFailure } from '../data-files.ts';
import type { BatchAction } from './batch-kind.ts';
import { IdList } from './id-list.ts';
import { filesWith, removeOldDrafts, removeOldJournals } from './journal-files.ts';
import { JournalTally } from './journal-tally.ts';

/** The server and project that a batch belongs to. Only they can continue it. */
export interface BatchOwner {
  readonly origin: string;
  /** Null if the server does not report the project. The key then identifies the owner. */
  readonly project_id: string | null;
  /** The first characters of the key's SHA-256. */
  readonly key: string;
}

export function isSameOwner(one: BatchOwner, other: BatchOwner): boolean {
  const isSameProject =
    one.project_id !== null && other.project_id !== null
      ? one.project_id === other.project_id
      : one.key === other.key;
  return one.origin === other.origin && isSameProject;
}

export interface BatchSeal extends BatchOwner {
  /** 1 for a deletion. Earlier versions of Parley know only deletions and refuse other numbers. */
  readonly version: 1 | 2;
  /** Missing in version 1. */
  readonly action?: BatchAction;
  readonly batch: string;
  readonly made_at: string;
  readonly ids: number;
  /**
   * The SHA-256 of the lines before the seal. A batch with an edited journal cannot be continued. The earliest journals have no checksum.
   */
  readonly sum?: string;
  readonly ignore_missing: boolean;
}

export interface JournalResult {
  readonly number: number;
  readonly status: string;
  /** What was changed; only for pins, archiving and tags. */
  readonly changed?: readonly string[];
}

/** What a process needs to use a batch exclusively. */
export interface BatchHolder {
  readonly locks: LoadLocks;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
}

/** How many characters of results may wait for a write. */
const maxWaiting = 64 * 1024;
export const dataSynced = promisify(fdatasync);

export function batchDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'batches');
}

export function journalPath(dataDirectory: string, batch: string): string {
  return join(batchDirectory(dataDirectory), `${batch}.journal`);
}

/** The lock file of the journal of a batch or an import. It is removed after the journal. */
export function lockPath(journal: string): string {
  return journal.replace(/(journal|import)$/, 'lock');
}

/** A batch whose ids are being collected. Its file becomes the journal, or is removed. */
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
      failure: (error) => dataFileFailure(error, this.#path),
      random: () => holder.random(),
    });
  }

  /** Turns the draft into a journal. Resolves when all ids are on disk. */
  async seal(facts: Omit<BatchSeal, 'sum'>): Promise<BatchJournal> {
    try {
      const file = this.list.moveToFile();
      const path = join(this.#directory, `${this.batch}.journal`);
      const seal: BatchSeal = { ...facts, sum: sumOf(file, this.list.bytes) };
      appendFileSync(file, `\t${JSON.stringify(seal)}\n`);
      moveIntoPlace(this.#path, path, { durable: true });
      this.#isSealed = true;
      removeOld(this.#directory, this.#holder.now());
      const journal = await BatchJournal.open(path, this.batch, this.#holder);
      journal.tally = new JournalTally(this.list.bytes, facts.ids);
      return journal;
    } catch (error) {
      throw dataFileFailure(error, this.#path);
    }
  }

  /** Closes the file, and removes it unless it has become the journal. */
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
      throw dataFileFailure(error, this.#path);
    }
  }
}

export class BatchJournal {
  readonly path: string;
  readonly file: number;
  /** Counts the results, for the line that says that nothing is left. Null until the journal was read. */
  tally: JournalTally | null = null;
  readonly #release: () => void;
  /** Lines that wait to be written. They start with a line end if a crash cut the last line of the file. */
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
      throw dataFileFailure(error, path);
    }
  }

  private constructor(path: string, file: number, release: () => void, lines: string) {
    this.path = path;
    this.file = file;
    this.#release = release;
    this.#lines = lines;
  }

  /** Resolves when the mark is on disk, so that a power failure does not lose which ids may have been sent. */
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
    for (const { number, status, changed = [] } of results) {
      this.#lines += `${number} ${status}${changed.length === 0 ? '' : ` ${changed.join(',')}`}\n`;
      this.tally?.add(status);
    }
    if (this.#lines.length > maxWaiting) this.flush();
  }

  /** Adds that the results before this number were printed. A run begins with 0. */
  recordPrinted(number: number): void {
    this.#lines += `printed ${number}\n`;
  }

  /** Throws at the first failed write. Nothing more is written from then on. */
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
   * Records that no id is being sent. The results are synced first: if a power failure kept only this line, ids with lost results would look
   * as if they were never sent.
   */
  settle(): void {
    if (this.#failure !== null) return;
    this.flush();
    try {
      fdatasyncSync(this.file);
    } catch (error) {
      throw this.#unwritten(error);
    }
    this.#lines += `settled\n${this.tally?.line ?? ''}`;
    this.flush();
  }

  /** Records that the batch was undone. */
  recordRestored(sessions: number, at: number): void {
    this.#lines += `restored ${sessions} ${new Date(at).toISOString()}\n`;
    this.flush();
  }

  close(): void {
    try {
      closeSync(this.file);
    } catch (error) {
      throw journalFailure(error, this.path);
    } finally {
      this.#release();
    }
  }

  #unwritten(error: unknown): unknown {
    this.#failure = journalFailure(error, this.path);
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
  removeOldJournals(directory, '.journal', now);
  removeOldDrafts(directory, now);
  for (const { path } of filesWith(directory, '.lock')) removeUnusedLock(path);
}

/**
 * Removes the lock file of a batch or an import whose journal no longer exists. The lock files of import-lock.ts belong to no journal: a running
 * import may hold them.
 */
function removeUnusedLock(path: string): void {
  if (/imports(\.next)?\.lock$/.test(path)) return;
  const isUsed = ['journal', 'import'].some((type) => existsSync(path.replace(/lock$/, type)));
  if (!isUsed) rmSync(path, { force: true });
}
