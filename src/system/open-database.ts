// What is asked of a database that is none of Parley's own. The library that opens it is chosen with that of the store.

export interface OpenedDatabase {
  /** Compiles one statement. `all` gives its rows; a value is of the parameter of its name. */
  prepare(sql: string): { all(values: Readonly<Record<string, string | number>>): unknown[] };
  close(): void;
}

/** Rejects for a file that does not exist. */
export type OpenDatabase = (path: string) => Promise<OpenedDatabase>;
