// The part of better-sqlite3's API that the tests use, over node:sqlite, because a process must not open one file with two libraries.
import type { DatabaseSync } from '../../src/store/sqlite/node-sqlite-types.ts';

type Value = string | number | Uint8Array | null;
type Row = Readonly<Record<string, unknown>>;

/** node:sqlite takes values by position too. */
interface NodeStatement {
  run(...values: readonly Value[]): { readonly changes: number };
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): readonly Row[];
}

/** Loaded if the driver of the tests is node:sqlite. */
export async function rawNodeDatabase() {
  // @ts-expect-error: the types of the oldest supported Node do not have it.
  const { DatabaseSync: Database } = (await import('node:sqlite')) as {
    DatabaseSync: new (path: string, options: object) => DatabaseSync;
  };
  return class RawNodeDatabase {
    readonly #database: DatabaseSync;

    constructor(path: string, { readonly = false, timeout = 5000 } = {}) {
      this.#database = new Database(path, { readOnly: readonly, timeout });
    }

    get inTransaction(): boolean {
      return this.#database.isTransaction;
    }

    prepare(sql: string): RawStatement {
      return new RawStatement(this.#database.prepare(sql) as unknown as NodeStatement);
    }

    exec(sql: string): void {
      this.#database.exec(sql);
    }

    pragma(text: string, { simple = false } = {}): unknown {
      const statement = this.prepare(`PRAGMA ${text}`);
      return simple ? statement.pluck().get() : statement.all();
    }

    transaction(work: () => void): () => void {
      return () => {
        this.#database.exec('BEGIN');
        work();
        this.#database.exec('COMMIT');
      };
    }

    close(): void {
      if (this.#database.isOpen) this.#database.close();
    }
  };
}

class RawStatement {
  readonly #statement: NodeStatement;
  #shape: (row: Row) => unknown = (row) => ({ ...row });

  constructor(statement: NodeStatement) {
    this.#statement = statement;
  }

  pluck(): this {
    this.#shape = (row) => Object.values(row)[0];
    return this;
  }

  raw(): this {
    this.#shape = (row) => Object.values(row);
    return this;
  }

  run(...values: readonly Value[]): { readonly changes: number } {
    return this.#statement.run(...values);
  }

  get(...values: readonly Value[]): unknown {
    const row = this.#statement.get(...values);
    return row && this.#shape(row);
  }

  all(...values: readonly Value[]): readonly unknown[] {
    return this.#statement.all(...values).map((row) => this.#shape(row));
  }
}
