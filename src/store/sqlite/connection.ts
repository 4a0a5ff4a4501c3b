// One open database and its statements. Each statement is compiled at its first use and kept, so a command that runs three of them does not
// pay for all. The texts of the statements are in the files of their subjects; the writer and the store decide when they run.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { Bindings, SqliteDatabase, SqliteDriver, SqliteStatement, SqlValue } from './driver.ts';
import { logBytes } from './store-file.ts';

const cacheKibibytes = 16_000;

interface RunResult {
  readonly changes: number;
  readonly rowId: number;
}

/**
 * In bytes. Each start reads the log: 0.6 ms for 512 KiB. A turn adds some 24 KiB to it, so one turn in twenty writes it back.
 */
const maxRemainingLogBytes = 512 * 1024;

export class Connection {
  readonly path: string;
  readonly driver: SqliteDriver;
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, SqliteStatement>();
  #sharing: object | null = null;
  #writing: object | null = null;
  #isReading = false;
  #isExclusive = false;
  #began = 0;
  #onCommit: ((milliseconds: number) => void) | null = null;

  constructor(driver: SqliteDriver, database: SqliteDatabase, path: string) {
    this.driver = driver;
    this.#database = database;
    this.path = path;
  }

  static open(driver: SqliteDriver, path: string): Connection {
    return new Connection(driver, driver.open(path), path);
  }

  /** A further connection to the same database. */
  openAnother(): Connection {
    return Connection.open(this.driver, this.path);
  }

  get open(): boolean {
    return this.#database.open;
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  /** True if no other connection can use the store while this one is open. */
  get isExclusive(): boolean {
    return this.#isExclusive;
  }

  /** Locks the store for this connection, until the connection is closed. Call it before the first read, which takes the lock. */
  takeExclusive(): void {
    this.pragma('locking_mode = EXCLUSIVE');
    this.#isExclusive = true;
  }

  /** Identifies the current write transaction, or this turn of the event loop while reads are shared; otherwise null. */
  get unitOfWork(): object | null {
    return this.#writing ?? this.#sharing;
  }

  /** Puts all reads until the next turn of the event loop into one transaction: opening a transaction costs more than most reads. */
  shareReads(): void {
    if (this.#sharing !== null) return;
    this.#sharing = {};
    setImmediate(() => {
      this.#endReading();
      this.#sharing = null;
    });
  }

  /** Runs a read of one or more statements. It may come between the begin of a write transaction and its first write. */
  read<T>(work: () => T): T {
    if (this.#sharing !== null && !this.#isReading && !this.#database.inTransaction) {
      this.#statement('BEGIN').run({});
      this.#isReading = true;
    }
    return work();
  }

  /** Runs a read of several statements that must see the same state. */
  readSnapshot<T>(work: () => T): T {
    if (this.#sharing !== null || this.#database.inTransaction) return this.read(work);
    this.#statement('BEGIN').run({});
    try {
      return work();
    } finally {
      this.#statement('COMMIT').run({});
    }
  }

  /** The first row. `Row` is the shape that the caller's SQL selects. */
  get<Row>(sql: string, bindings: Bindings = {}): Row | undefined {
    return this.#statement(sql).get(bindings) as Row | undefined;
  }

  /** The values of the first row's columns: with many columns, half the time of an object. No other method may read with this SQL. */
  values<Values extends readonly SqlValue[]>(sql: string, bindings: Bindings): Values | undefined {
    return this.#statement(sql).raw().get(bindings) as Values | undefined;
  }

  /** All rows. It returns no iterator, because an open statement keeps the log (WAL) from being shortened. */
  all<Row>(sql: string, bindings: Bindings = {}): Row[] {
    return this.#statement(sql).all(bindings) as Row[];
  }

  /** The rows before the first unwanted one. Nothing after that row is read. */
  allWhile<Row>(sql: string, bindings: Bindings, isWanted: (row: Row) => boolean): Row[] {
    const rows: Row[] = [];
    for (const row of this.#statement(sql).iterate(bindings) as Iterable<Row>) {
      if (!isWanted(row)) break;
      rows.push(row);
    }
    return rows;
  }

  /**
   * Like {@link allWhile}, each row as the values of its columns: for many rows, half the time of objects. No other method may read with
   * this SQL.
   */
  valuesWhile<Values extends readonly SqlValue[]>(
    sql: string,
    bindings: Bindings,
    isWanted: (values: Values) => boolean,
  ): Values[] {
    const rows: Values[] = [];
    for (const values of this.#statement(sql).raw().iterate(bindings) as Iterable<unknown>) {
      if (!isWanted(values as Values)) break;
      rows.push(values as Values);
    }
    return rows;
  }

  /** Runs a statement whose values are `?`: for many rows, less time than names. */
  runValues(sql: string, values: readonly SqlValue[]): RunResult {
    this.#endReading();
    const { changes, lastInsertRowid } = this.#statement(sql).run(values);
    return { changes, rowId: Number(lastInsertRowid) };
  }

  run(sql: string, bindings: Bindings = {}): RunResult {
    this.#endReading();
    const { changes, lastInsertRowid } = this.#statement(sql).run(bindings);
    return { changes, rowId: Number(lastInsertRowid) };
  }

  /** Runs several statements at once, without values and without caching them. */
  execute(sql: string): void {
    this.#endReading();
    this.#database.exec(sql);
  }

  /** The first value of a pragma's answer. */
  pragma(text: string): unknown {
    this.#endReading();
    return this.#database.pragma(text, { simple: true });
  }

  /** Sets what SQLite does not keep in the file. The size of the cache has another default in each library. */
  setUp(): void {
    this.pragma('synchronous = FULL');
    // On macOS, a sync without this setting leaves the data in the cache of the disk. Other systems ignore it.
    this.pragma('fullfsync = ON');
    this.pragma('foreign_keys = ON');
    this.pragma(`cache_size = -${cacheKibibytes}`);
  }

  /** Begins a write transaction. The caller commits it, or rolls it back, without yielding to the event loop. */
  beginWriting(): void {
    this.run('BEGIN IMMEDIATE');
    this.#writing = {};
    if (this.#onCommit !== null) this.#began = monotonicMs();
  }

  commit(): void {
    this.run('COMMIT');
    this.#writing = null;
    this.#onCommit?.(monotonicMs() - this.#began);
  }

  /** The listener gets the time of each write transaction, from its lock to its commit, in ms. */
  onCommit(listener: (milliseconds: number) => void): void {
    this.#onCommit = listener;
  }

  rollback(): void {
    this.#writing = null;
    // After some errors, such as a full disk, SQLite has rolled back already.
    if (this.#database.inTransaction) this.#database.exec('ROLLBACK');
  }

  close(): void {
    this.#isReading = false;
    this.#statements.clear();
    this.#database.close();
  }

  /**
   * Closes the connection at the end of the process, unless the log is short. What was committed is on disk in the log. Writing it back
   * into the database takes three syncs more, so a short log stays, as after a process that was killed. Later processes read it there.
   */
  leave(): void {
    if (this.#isExclusive || logBytes(this.path) >= maxRemainingLogBytes) this.close();
  }

  #endReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    if (this.#database.inTransaction) this.#statement('COMMIT').run({});
  }

  #statement(sql: string): SqliteStatement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
