// Reads a copy of another program's SQLite database, because the program may be running. Its files are not changed.
import { copyFileSync, lstatSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError, reasonOf } from '../../service/errors.ts';
import { systemErrorCode } from '../../system/file-errors.ts';
import type { OpenedDatabase, OpenedStatement, StatementValues } from '../../system/open-database.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { SessionSize } from './session-size.ts';
import type { ReadOptions, SourceFile } from './source.ts';

/** How often a copy is repeated because the program wrote at the same time. */
const maxCopies = 20;
/** What SQLite needs besides the database: the write-ahead log, or the rollback journal of a transaction that a crash has cut. */
const companionSuffixes = ['-wal', '-journal'];

export type DatabaseRow = Readonly<Record<string, unknown>>;

export class ForeignDatabase {
  readonly #database: OpenedDatabase;
  readonly #path: string;
  readonly #statements = new Map<string, OpenedStatement>();

  /** Throws for a file that is not a database. */
  static async open(
    file: SourceFile,
    { temporaryDirectory, openDatabase, signal }: ReadOptions,
  ): Promise<ForeignDatabase> {
    if (file.local === null) {
      throw new ParleyError(
        'INVALID_REQUEST',
        `${file.path} is a database, which can only be read from a file.`,
        { hint: 'Unpack it and name the file.' },
      );
    }
    const copy = join(mkdtempSync(join(temporaryDirectory(), 'database-')), 'copy.db');
    try {
      // The log is next to the database itself, not next to a link to it.
      await copyDatabase(realpathSync(file.local), copy, signal);
      const database = new ForeignDatabase(await openDatabase(copy), file.path);
      database.#requireWholePages(copy);
      return database;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ParleyError ? error : unreadable(file.path, error);
    }
  }

  private constructor(database: OpenedDatabase, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** SQLite reads the missing bytes of the last page as zeros. */
  #requireWholePages(copy: string): void {
    // Any query first rolls a cut transaction back, which restores the size.
    this.hasTable('');
    const [{ page_size = 1 } = {}] = this.rows('PRAGMA page_size');
    if (statSync(copy).size % Number(page_size) === 0) return;
    this.close();
    throw new Error('its end is missing');
  }

  hasTable(name: string): boolean {
    return (
      this.rows("SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = @name", { name })
        .length > 0
    );
  }

  rows(sql: string, values: StatementValues = {}): readonly DatabaseRow[] {
    try {
      const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
      this.#statements.set(sql, statement);
      const rows: DatabaseRow[] = [];
      const size = new SessionSize(this.#path);
      for (const row of statement.iterate(values) as Iterable<DatabaseRow>) {
        for (const value of Object.values(row))
          size.add(typeof value === 'string' || value instanceof Uint8Array ? value.length : 8);
        rows.push(row);
      }
      return rows;
    } catch (error) {
      throw error instanceof ParleyError ? error : unreadable(this.#path, error);
    }
  }

  close(): void {
    this.#database.close();
  }
}

/**
 * Copies the database and the files beside it until no write came in between. The log is copied after the database, so that it contains what
 * the database lacks; it may grow meanwhile. Rejects if the program writes all the time, and with the signal's reason.
 */
async function copyDatabase(path: string, copy: string, signal: AbortSignal): Promise<void> {
  for (let copies = 1; ; copies += 1) {
    const before = stateOf(path);
    copyFileSync(path, copy);
    for (const suffix of companionSuffixes) {
      rmSync(`${copy}${suffix}`, { force: true });
      copyIfFile(`${path}${suffix}`, `${copy}${suffix}`);
    }
    if (stateOf(path) === before) return;
    if (copies === maxCopies) throw new Error('its program writes to it all the time');
    await yieldToEventLoop();
    signal.throwIfAborted();
  }
}

function copyIfFile(path: string, copy: string): void {
  // Copying a pipe would block this process.
  if (!lstatSync(path, { throwIfNoEntry: false })?.isFile()) return;
  try {
    copyFileSync(path, copy);
  } catch (error) {
    // The program has just removed its journal, so the database is copied again.
    if (systemErrorCode(error) !== 'ENOENT') throw error;
  }
}

/** Changes with every write to the database or to its rollback journal. */
function stateOf(path: string): string {
  return [path, `${path}-journal`]
    .map((each) => lstatSync(each, { bigint: true, throwIfNoEntry: false }))
    .map((status) => (status === undefined ? 'none' : `${status.ino} ${status.size} ${status.mtimeNs}`))
    .join(', ');
}

function unreadable(path: string, cause: unknown): ParleyError {
  return new ParleyError('INVALID_REQUEST', `Cannot read the database ${path}: ${reasonOf(cause)}.`, {
    hint: 'It was not changed. Close its program and try again.',
    cause,
  });
}
