// Reads a copy of another program's SQLite database, with its write-ahead log, because the program may be running. Its files are not changed.
import { copyFileSync, lstatSync, mkdtempSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ParleyError } from '../../service/errors.ts';
import type { OpenedDatabase, OpenedStatement, StatementValues } from '../../system/open-database.ts';
import { SessionSize } from './session-size.ts';
import type { ReadOptions, SourceFile } from './source.ts';

export type DatabaseRow = Readonly<Record<string, unknown>>;

export class ForeignDatabase {
  readonly #database: OpenedDatabase;
  readonly #path: string;
  readonly #statements = new Map<string, OpenedStatement>();

  /** Throws for a file that is not a database. */
  static async open(
    file: SourceFile,
    { temporaryDirectory, openDatabase }: ReadOptions,
  ): Promise<ForeignDatabase> {
    if (file.local === null) {
      throw new ParleyError(
        'INVALID_REQUEST',
        `${file.path} is a database, which can only be read from a file.`,
        {
          hint: 'Unpack it and name the file.',
        },
      );
    }
    const copy = join(mkdtempSync(join(temporaryDirectory(), 'database-')), 'copy.db');
    try {
      // The log is next to the database itself, not next to a link to it.
      const path = realpathSync(file.local);
      copyFileSync(path, copy);
      // Copied after the database, so that the log contains what the database lacks. Copying a pipe would block this process.
      if (lstatSync(`${path}-wal`, { throwIfNoEntry: false })?.isFile())
        copyFileSync(`${path}-wal`, `${copy}-wal`);
      return new ForeignDatabase(await openDatabase(copy), file.path);
    } catch (error) {
      throw error instanceof ParleyError ? error : unreadable(file.path, error);
    }
  }

  private constructor(database: OpenedDatabase, path: string) {
    this.#database = database;
    this.#path = path;
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
      const held = new SessionSize(this.#path);
      for (const row of statement.iterate(values) as Iterable<DatabaseRow>) {
        for (const value of Object.values(row))
          held.add(typeof value === 'string' || value instanceof Uint8Array ? value.length : 8);
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

function unreadable(path: string, cause: unknown): ParleyError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ParleyError('INVALID_REQUEST', `Cannot read the database ${path}: ${why}.`, {
    hint: 'It was not changed. Close its program and try again.',
    cause,
  });
}
