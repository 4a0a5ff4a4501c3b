// What the store needs from a library for SQLite. better-sqlite3-driver.ts and node-sqlite-driver.ts offer it, and driver-choice.ts
// chooses one. Both mean the same by every member. An error of SQLite has SQLite's own name as its `code`, such as SQLITE_BUSY_SNAPSHOT.

export const driverNames = ['node:sqlite', 'better-sqlite3'] as const;

export type SqliteDriverName = (typeof driverNames)[number];

export interface SqliteDriver {
  readonly name: SqliteDriverName;
  /** How to get a newer SQLite, for a refusal. */
  readonly newerSqlite: string;
  /** Opens an existing database. SQLite's own wait for a lock is off, because it would block the event loop. */
  open(path: string): SqliteDatabase;
  /** Opens a new database in memory. Its content is lost when it is closed. */
  openInMemory(): SqliteDatabase;
}

export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  /** Compiles one statement. */
  prepare(sql: string): SqliteStatement;
  /** Runs several statements. */
  exec(sql: string): void;
  /** The first value of a pragma's answer; undefined if there is none. */
  pragma(text: string, options: { readonly simple: true }): unknown;
  /** Rolls an open transaction back. A second call does nothing. */
  close(): void;
}

export type SqlValue = string | number | Uint8Array | null;

/** The values of a statement's named parameters. Each parameter needs a value; a value without a parameter is ignored. */
export type Bindings = Readonly<Record<string, SqlValue>>;

/** Named values, or the values of `?` in their order, one for each. */
export type Values = Bindings | readonly SqlValue[];

export interface StatementResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

export interface SqliteStatement {
  /** Runs a statement that returns no rows. `changes` counts the rows of an INSERT, UPDATE or DELETE. */
  run(values: Values): StatementResult;
  /** The first row. */
  get(values: Values): unknown;
  /** All rows. An integer beyond 2^53 is rounded, a blob is a `Uint8Array`. */
  all(values: Values): unknown[];
  /** The rows one by one. No other statement of the database may run before the last one. */
  iterate(values: Values): Iterable<unknown>;
  /** From this call on, a row is an array of the values of its columns. */
  raw(): SqliteStatement;
}
