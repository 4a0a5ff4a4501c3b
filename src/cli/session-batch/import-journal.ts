// The journal of an import: a file that records the request and the sessions that the import creates, so that it can be resumed and undone,
// even after a kill. It is beside the journals of batches and contains no titles and no texts.
//
//   {"version":1,"kind":"import",…}   the first line
//   ses_a 1767225600000               a session that is about to be created, and the time. It did not exist then (import-lock.ts)
//   -ses_a                            the session was not created
//   restored 998 2026-…               the import was undone: number of deleted sessions and time
import { appendFileSync, closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { quoted } from '../../service/quoted.ts';
import { makePrivateDirectory, syncDirectory } from '../../system/directories.ts';
import { holdFileLock } from '../../system/file-lock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { dataFileFailure, journalFailure } from '../data-files.ts';
import {
  type BatchHolder,
  type BatchOwner,
  batchDirectory,
  dataSynced,
  isSameOwner,
  lockPath,
} from './journal.ts';
import { fileStatus, filesWith, removeOldJournals } from './journal-files.ts';
import { restoredIn } from './journal-lines.ts';
import type { BatchRestored } from './journal-tally.ts';

/** What to import. */
export interface ImportRequest {
  readonly paths: readonly string[];
  readonly from: string | null;
  /** ISO 8601. */
  readonly since: string | null;
  readonly match: string | null;
  readonly messages_only: boolean;
  /** The tags of its sessions. Missing in the earliest journals. */
  readonly tags?: readonly string[];
}

interface ImportSeal extends BatchOwner, ImportRequest {
  readonly version: 1;
  readonly kind: 'import';
  readonly batch: string;
  readonly made_at: string;
}

export interface KnownImport {
  readonly seal: ImportSeal;
  /** The sessions that it created or was about to create, with the time (epoch ms). */
  readonly created: ReadonlyMap<string, number>;
  readonly restored: BatchRestored | null;
}

const extension = '.import';

/** An open journal. No other process can open it meanwhile. */
export class ImportJournal {
  readonly batch: string;
  readonly path: string;
  readonly #file: number;
  readonly #release: () => void;
  /** Lines that wait to be written, and the promise of that write. */
  #lines = '';
  #written: Promise<void> | null = null;
  #failure: unknown = null;

  /** Creates the journal. Also removes old journals. */
  static async begin(dataDirectory: string, seal: ImportSeal, holder: BatchHolder): Promise<ImportJournal> {
    const path = importPath(dataDirectory, seal.batch);
    try {
      makePrivateDirectory(batchDirectory(dataDirectory));
      removeOldJournals(batchDirectory(dataDirectory), extension, holder.now());
      writeFileSync(path, `${JSON.stringify(seal)}\n`, { mode: 0o600, flag: 'wx', flush: true });
      syncDirectory(batchDirectory(dataDirectory));
    } catch (error) {
      throw dataFileFailure(error, path);
    }
    return ImportJournal.open(dataDirectory, seal.batch, holder);
  }

  /** Throws `STORE_BUSY` while another process has it open. */
  static async open(
    dataDirectory: string,
    batch: string,
    { locks }: Pick<BatchHolder, 'locks'>,
  ): Promise<ImportJournal> {
    const path = importPath(dataDirectory, batch);
    const release = await holdFileLock({ path: lockPath(path), locks }, `the batch ${batch}`);
    try {
      return new ImportJournal(path, openSync(path, 'a', 0o600), batch, release);
    } catch (error) {
      release();
      throw dataFileFailure(error, path);
    }
  }

  private constructor(path: string, file: number, batch: string, release: () => void) {
    this.path = path;
    this.#file = file;
    this.batch = batch;
    this.#release = release;
    // A crash may have cut the last line.
    if (!readFileSync(path).subarray(-1).equals(Buffer.from('\n'))) this.#append('\n');
  }

  /**
   * Records a session that is about to be created. Resolves when the line is on disk, so that a power failure does not keep the session alone.
   * Calls at the same time share a write.
   */
  record(sessionId: string, at: number): Promise<void> {
    this.#lines += `${sessionId} ${at}\n`;
    this.#written ??= this.#writeLines();
    return this.#written;
  }

  async #writeLines(): Promise<void> {
    await yieldToEventLoop();
    const lines = this.#lines;
    this.#lines = '';
    this.#written = null;
    this.#append(lines);
    try {
      await dataSynced(this.#file);
    } catch (error) {
      throw this.#unwritten(error);
    }
  }

  /** Records that the session was not created after all. */
  withdraw(sessionId: string): void {
    this.#append(`-${sessionId}\n`);
  }

  recordRestored(sessions: number, at: number): void {
    this.#append(`restored ${sessions} ${new Date(at).toISOString()}\n`);
  }

  close(): void {
    closeSync(this.#file);
    this.#release();
  }

  /** Closes the journal and removes its file. */
  remove(): void {
    rmSync(this.path, { force: true });
    this.close();
    rmSync(lockPath(this.path), { force: true });
  }

  /** Throws at the first failed write, which may have written a part of a line. Nothing more is written from then on. */
  #append(line: string): void {
    if (this.#failure !== null) throw this.#failure;
    try {
      appendFileSync(this.#file, line);
    } catch (error) {
      throw this.#unwritten(error);
    }
  }

  #unwritten(error: unknown): unknown {
    this.#failure = journalFailure(error, this.path);
    return this.#failure;
  }
}

export function isImportBatch(dataDirectory: string, batch: string): boolean {
  return /^[\w-]+$/.test(batch) && fileStatus(importPath(dataDirectory, batch)) !== null;
}

/** Throws `USAGE` if there is no such import. */
export function readImport(dataDirectory: string, batch: string): KnownImport {
  const known = isImportBatch(dataDirectory, batch) ? read(importPath(dataDirectory, batch)) : null;
  if (known !== null) return known;
  throw new ParleyError('USAGE', `There is no import ${quoted(batch)}; nothing was done.`, {
    hint: 'To list the imports: parley sessions batches',
  });
}

/**
 * The sessions that an import created. If several imports recorded the same session, only the last one created it: it found no session, so the
 * earlier ones had been stopped or undone. `shared` saves time if many imports are asked about: {@link sharedIds} of all of them.
 */
export function createdBy(
  { seal, created }: KnownImport,
  all: readonly KnownImport[],
  shared: ReadonlySet<string> | null = null,
): readonly string[] {
  const others = all.filter((other) => other.seal.batch !== seal.batch && isSameOwner(seal, other.seal));
  return [...created]
    .filter(
      ([id, at]) => shared?.has(id) === false || !others.some((other) => (other.created.get(id) ?? -1) > at),
    )
    .map(([id]) => id);
}

/** The sessions that several of the imports recorded: mostly none, so that few are looked for in each import. */
export function sharedIds(all: readonly KnownImport[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { created } of all)
    for (const id of created.keys()) {
      if (seen.has(id)) shared.add(id);
      seen.add(id);
    }
  return shared;
}

/** Throws `USAGE` unless the import belongs to this server and project. */
export function requireOwner(seal: ImportSeal, owner: BatchOwner): void {
  if (isSameOwner(seal, owner)) return;
  throw new ParleyError(
    'USAGE',
    `Import ${seal.batch} belongs to another target or project; nothing was done.`,
    { hint: 'Select the target where it was started with --profile NAME or --url URL.' },
  );
}

/** The imports whose journals are kept on this machine, in no particular order. */
export function knownImports(dataDirectory: string): readonly KnownImport[] {
  return filesWith(batchDirectory(dataDirectory), extension)
    .map(({ path }) => read(path))
    .filter((known) => known !== null);
}

function importPath(dataDirectory: string, batch: string): string {
  return join(batchDirectory(dataDirectory), `${batch}${extension}`);
}

/** Null for a file that is not the journal of an import, or was removed meanwhile. A line that a crash has cut is ignored. */
function read(path: string): KnownImport | null {
  try {
    const [first = '', ...lines] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    const seal: ImportSeal = JSON.parse(first);
    if (seal.version !== 1 || seal.kind !== 'import' || !Array.isArray(seal.paths)) return null;
    const created = new Map<string, number>();
    let restored: BatchRestored | null = null;
    for (const line of lines) {
      if (line.startsWith('restored ')) restored = restoredIn(line) ?? restored;
      else if (line.startsWith('-')) created.delete(line.slice(1));
      else {
        const [id = '', time] = line.split(' ');
        if (time !== undefined) created.set(id, Number(time));
      }
    }
    return { seal, created, restored };
  } catch {
    return null;
  }
}
