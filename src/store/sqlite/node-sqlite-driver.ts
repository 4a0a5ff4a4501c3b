// SQLite by Node's own node:sqlite. Where it differs from better-sqlite3, this file makes the two mean the same: errors get SQLite's names,
// a missing value is refused, and a large integer is rounded.
import { pathToFileURL } from 'node:url';
import type {
  Bindings,
  SqliteDatabase,
  SqliteDriver,
  SqliteStatement,
  SqlValue,
  StatementResult,
  Values,
} from './driver.ts';
import type { CheckedValues, DatabaseSync, StatementSync } from './node-sqlite-types.ts';
import { resultCodeName } from './result-codes.ts';

/** Loads the module here, because a Node without it cannot load a file that imports it. */
export async function nodeSqlite(): Promise<SqliteDriver> {
  // @ts-expect-error: the types of the oldest supported Node do not have it.
  const { DatabaseSync: Database } = (await import('node:sqlite')) as {
    DatabaseSync: new (path: string, options: { readonly timeout: number }) => DatabaseSync;
  };
  const open = (place: string) => new NodeDatabase(withErrorNames(() => new Database(place, { timeout: 0 })));
  return {
    name: 'node:sqlite',
    newerSqlite: 'Use a newer Node.',
    // A path would make a file that does not exist.
    open: (path) => open(`${pathToFileURL(path).href}?mode=rw`),
    openInMemory: () => open(':memory:'),
  };
}

class NodeDatabase implements SqliteDatabase {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get open(): boolean {
    return this.#database.isOpen;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  prepare(sql: string): SqliteStatement {
    return new NodeStatement(this.#database, sql);
  }

  exec(sql: string): void {
    withErrorNames(() => this.#database.exec(sql));
  }

  pragma(text: string): unknown {
    const row = withErrorNames(() => this.#database.prepare(`PRAGMA ${text}`).get());
    return row === undefined ? undefined : Object.values(row as object)[0];
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

class NodeStatement implements SqliteStatement {
  readonly #statement: StatementSync;
  readonly #parameters: readonly string[];
  /** How many `?` there are. */
  readonly #places: number;
  readonly #isRead: boolean;

  constructor(database: DatabaseSync, sql: string) {
    const parameters = [...new Set(sql.match(/(?<=@)\w+/g))];
    this.#parameters = parameters;
    this.#places = sql.split('?').length - 1;
    this.#isRead = /^\s*(SELECT|WITH|PRAGMA)\b/.test(sql);
    // node:sqlite takes twice the time and the memory for values by name as for values in their order.
    const numbered = sql.replace(/@(\w+)/g, (_, name: string) => `?${parameters.indexOf(name) + 1}`);
    this.#statement = withErrorNames(() => database.prepare(numbered));
  }

  /** An import calls this for each message, so a call makes no function and only one array. */
  run(values: Values): StatementResult {
    const checked = this.#checked(values);
    try {
      return this.#statement.run(...checked);
    } catch (error) {
      throw nameError(error);
    }
  }

  get(values: Values): unknown {
    return this.#read((checked) => this.#statement.get(...checked), values);
  }

  all(values: Values): unknown[] {
    return this.#read((checked) => this.#statement.all(...checked), values);
  }

  /**
   * After an integer that JavaScript would round, it reads the rows again and leaves out those that it has yielded. The rows must not
   * change meanwhile: only the databases of other programs have such integers, and an import reads a copy of them.
   */
  *iterate(values: Values): Iterable<unknown> {
    let count = 0;
    try {
      for (const row of this.#rows(values)) {
        count += 1;
        yield row;
      }
      return;
    } catch (error) {
      if (!this.#isRead || codeOf(error) !== 'ERR_OUT_OF_RANGE') throw error;
    }
    this.#statement.setReadBigInts(true);
    try {
      for (const row of this.#rows(values)) {
        if (count > 0) count -= 1;
        else yield rounded(row);
      }
    } finally {
      this.#statement.setReadBigInts(false);
    }
  }

  *#rows(values: Values): Iterable<unknown> {
    const rows = withErrorNames(() => this.#statement.iterate(...this.#checked(values)));
    try {
      for (;;) {
        const { done, value } = withErrorNames(() => rows.next());
        if (done) return;
        yield value;
      }
    } finally {
      rows.return?.();
    }
  }

  raw(): this {
    this.#statement.setReturnArrays(true);
    return this;
  }

  /** node:sqlite refuses an integer that JavaScript would round. The statement then runs again, so it must not write. */
  #read<T>(read: (checked: CheckedValues) => T, values: Values): T {
    const checked = this.#checked(values);
    try {
      return read(checked);
    } catch (error) {
      if (!this.#isRead || codeOf(error) !== 'ERR_OUT_OF_RANGE') throw nameError(error);
    }
    this.#statement.setReadBigInts(true);
    try {
      return rounded(withErrorNames(() => read(checked))) as T;
    } finally {
      this.#statement.setReadBigInts(false);
    }
  }

  /** node:sqlite takes a missing value for NULL and a boolean for a number, and not each version takes `undefined` for NULL. */
  #checked(values: Values): CheckedValues {
    if (!isByName(values)) {
      if (values.length === this.#places) return values;
      throw new RangeError(`The statement has ${this.#places} places for ${values.length} values.`);
    }
    const checked = new Array<SqlValue>(this.#parameters.length);
    for (let index = 0; index < checked.length; index += 1) {
      const name = this.#parameters[index] as string;
      const value = values[name];
      if (typeof value === 'boolean') throw new TypeError(`Parameter "${name}" is a boolean.`);
      if (value === undefined && !(name in values)) throw new RangeError(`Missing named parameter "${name}"`);
      checked[index] = value ?? null;
    }
    return checked;
  }
}

function isByName(values: Values): values is Bindings {
  return !Array.isArray(values);
}

/** A row or rows whose integers are all of type `bigint`. */
function rounded(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one)]));
}

/** Runs the work, and gives its errors SQLite's names. */
function withErrorNames<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw nameError(error);
  }
}

/** An error of SQLite has the number of its result code. Every such error has one `code`, which says nothing. */
function nameError(error: unknown): unknown {
  if (codeOf(error) !== 'ERR_SQLITE_ERROR') return error;
  const failure = error as Error & { code: string; readonly errcode: number };
  failure.code = resultCodeName(failure.errcode);
  return failure;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
