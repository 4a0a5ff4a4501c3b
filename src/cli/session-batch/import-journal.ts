// The journal of an import: a file that records what was asked for and which sessions it creates, so that the import can be resumed and
// taken back after a kill, too. It stands beside the journals of deletions. There are no titles and no texts in it.
//
//   {"version":1,"kind":"import",…}   the first line
//   ses_a 1767225600000               a session that is about to be created, and when. It was not there then (import-turns.ts)
//   -ses_a                            it was not created
//   restored 998 2026-…               the import was taken back, and so many sessions were deleted
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import { quoted } from '../../service/quoted.ts';
import { makePrivateDirectory } from '../../system/directories.ts';
import { fileFailure } from '../../system/file-failure.ts';
import { holdFileLock } from '../../system/file-lock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { type BatchHolder, type BatchOwner, batchDirectory } from './journal.ts';

/** What an import was asked for. */
export interface ImportRequest {
  readonly paths: readonly string[];
  readonly from: string | null;
  /** ISO 8601. */
  readonly since: string | null;
  readonly match: string | null;
  readonly messages_only: boolean;
  /** Tags that its sessions get. The earliest journals have none. */
  readonly tags?: readonly string[];
}

export interface ImportSeal extends BatchOwner, ImportRequest {
  readonly version: 1;
  readonly kind: 'import';
  readonly batch: string;
  readonly made_at: string;
}

export interface KnownImport {
  readonly seal: ImportSeal;
  /** The sessions that it created, or was about to, with the time (epoch ms). */
  readonly created: ReadonlyMap<string, number>;
  readonly restored: { readonly sessions: number; readonly at: string } | null;
}

const ending = '.import';
const keptMs = 90 * 24 * 60 * 60 * 1000;
const remedy = 'Make it a directory that you may write to, or set PARLEY_DATA_DIR to another.';

/** An open journal, which no other process uses meanwhile. */
export class ImportJournal {
  readonly batch: string;
  readonly #path: string;
  readonly #file: number;
  readonly #release: () => void;
  /** Lines that wait to be written, and when they are. */
  #lines = '';
  #written: Promise<void> | null = null;

  /** Makes the journal, or throws. Journals that nobody has touched for 90 days are removed. */
  static async begin(dataDirectory: string, seal: ImportSeal, holder: BatchHolder): Promise<ImportJournal> {
    const path = importPath(dataDirectory, seal.batch);
    try {
      makePrivateDirectory(batchDirectory(dataDirectory));
      removeOld(batchDirectory(dataDirectory), holder.now());
      writeFileSync(path, `${JSON.stringify(seal)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    } catch (error) {
      throw fileFailure(error, path, 'written', remedy);
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
    const release = await holdFileLock(
      { path: path.replace(/import$/, 'lock'), locks },
      `the batch ${batch}`,
    );
    try {
      return new ImportJournal(path, openSync(path, 'a', 0o600), batch, release);
    } catch (error) {
      release();
      throw fileFailure(error, path, 'written', remedy);
    }
  }

  private constructor(path: string, file: number, batch: string, release: () => void) {
    this.#path = path;
    this.#file = file;
    this.batch = batch;
    this.#release = release;
    // A crash may have cut the last line.
    if (!readFileSync(path).subarray(-1).equals(Buffer.from('\n'))) this.#append('\n');
  }

  /** Records a session that is about to be created. Sessions of one moment share a write. */
  record(sessionId: string, at: number): Promise<void> {
    this.#lines += `${sessionId} ${at}\n`;
    this.#written ??= yieldToEventLoop().then(() => {
      const lines = this.#lines;
      this.#lines = '';
      this.#written = null;
      this.#append(lines);
    });
    return this.#written;
  }

  /** Takes a record back: the import has not created the session. */
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

  /** Removes the file of the journal, which is closed then. */
  remove(): void {
    rmSync(this.#path, { force: true });
    this.close();
    rmSync(this.#path.replace(/import$/, 'lock'), { force: true });
  }

  #append(line: string): void {
    try {
      appendFileSync(this.#file, line);
    } catch (error) {
      throw fileFailure(error, this.#path, 'written', remedy);
    }
  }
}

export function isImportBatch(dataDirectory: string, batch: string): boolean {
  return /^[\w-]+$/.test(batch) && existsSync(importPath(dataDirectory, batch));
}

/** Throws `USAGE` if there is no such import. */
export function readImport(dataDirectory: string, batch: string): KnownImport {
  const known = isImportBatch(dataDirectory, batch) ? read(importPath(dataDirectory, batch)) : null;
  if (known !== null) return known;
  throw new ParleyError('USAGE', `There is no import ${quoted(batch)}; nothing was done.`, {
    hint: 'The imports there are: parley sessions batches',
  });
}

/**
 * The sessions that an import has created. Several imports may have been about to create a session, of which all but one were stopped before
 * or took the session back; the last one created it, because the session was not there at its time.
 */
export function createdBy({ seal, created }: KnownImport, all: readonly KnownImport[]): readonly string[] {
  const others = all.filter((other) => other.seal.batch !== seal.batch && isSameOwner(seal, other.seal));
  return [...created]
    .filter(([id, at]) => !others.some((other) => (other.created.get(id) ?? -1) > at))
    .map(([id]) => id);
}

function isSameOwner(one: BatchOwner, other: BatchOwner): boolean {
  const isProject =
    one.project_id !== null && other.project_id !== null
      ? one.project_id === other.project_id
      : one.key === other.key;
  return one.origin === other.origin && isProject;
}

/** Throws `USAGE` unless the import belongs to this server and project. */
export function requireOwner(seal: ImportSeal, owner: BatchOwner): void {
  if (isSameOwner(seal, owner)) return;
  throw new ParleyError(
    'USAGE',
    `The import ${seal.batch} belongs to another place or project; nothing was done.`,
    {
      hint: 'Choose where it was begun, with --profile NAME or --url URL.',
    },
  );
}

/** The imports whose journals are kept on this machine, in no order. */
export function knownImports(dataDirectory: string): readonly KnownImport[] {
  const directory = batchDirectory(dataDirectory);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith(ending))
    .map((name) => read(join(directory, name)))
    .filter((known) => known !== null);
}

function importPath(dataDirectory: string, batch: string): string {
  return join(batchDirectory(dataDirectory), `${batch}${ending}`);
}

/** Null for a file that is no journal of an import, or that was removed meanwhile. A line that a crash has cut is ignored. */
function read(path: string): KnownImport | null {
  try {
    const [first = '', ...lines] = readFileSync(path, 'utf8').split('\n').slice(0, -1);
    const seal: ImportSeal = JSON.parse(first);
    if (seal.version !== 1 || seal.kind !== 'import' || !Array.isArray(seal.paths)) return null;
    const created = new Map<string, number>();
    let restored: KnownImport['restored'] = null;
    for (const line of lines) {
      const [, sessions, at] = /^restored (\d+) (\S+)$/.exec(line) ?? [];
      if (sessions !== undefined && at !== undefined) restored = { sessions: Number(sessions), at };
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

function removeOld(directory: string, now: number): void {
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(ending)) continue;
    const path = join(directory, name);
    const touched = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - touched > keptMs) rmSync(path, { force: true });
  }
}
