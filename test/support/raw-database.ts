// Reads a SQLite file without the store, when the store is closed.
import Database from 'better-sqlite3';
import { driver } from './driver.ts';
import { rawNodeDatabase } from './raw-node-database.ts';

/** A database in the library that the stores of this process use, because two libraries must not open one file. */
export const RawDatabase = (
  driver.name === 'better-sqlite3' ? Database : await rawNodeDatabase()
) as typeof Database;

/** Runs a function over a file that no store has open. */
export function lookInto<T>(path: string, look: (database: Database.Database) => T): T {
  const database = new RawDatabase(path);
  try {
    return look(database);
  } finally {
    database.close();
  }
}
