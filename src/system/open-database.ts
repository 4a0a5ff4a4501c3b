// What is asked of a database that is none of Parley's own. The library that opens it is chosen with that of the store.

/** Values by the names of their parameters, or of the `?` in their order. */
export type StatementValues = Readonly<Record<string, string | number>> | readonly (string | number)[];

export interface OpenedStatement {
  /** The rows one by one. No other statement of the database may run before the last one. */
  iterate(values: StatementValues): Iterable<unknown>;
}

export interface OpenedDatabase {
  /** Compiles one statement. */
  prepare(sql: string): OpenedStatement;
  close(): void;
}

/** Rejects for a file that does not exist. */
export type OpenDatabase = (path: string) => Promise<OpenedDatabase>;
