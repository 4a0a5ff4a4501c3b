// The interface to a SQLite database of another program. It is opened with the library that also opens the store.

/** Values by the names of their parameters, or in the order of their `?`. */
export type StatementValues = Readonly<Record<string, string | number>> | readonly (string | number)[];

export interface OpenedStatement {
  /** Yields the rows one by one. No other statement of the database may run before the last row. */
  iterate(values: StatementValues): Iterable<unknown>;
}

export interface OpenedDatabase {
  /** Compiles one statement. */
  prepare(sql: string): OpenedStatement;
  close(): void;
}

/** Rejects for a file that does not exist. */
export type OpenDatabase = (path: string) => Promise<OpenedDatabase>;
