// A SQLite store for a test: opened as in the program, closed when the test ends.
import { onTestFinished } from 'vitest';
import type { OpenedStore, SqliteStoreOptions } from '../../src/store/sqlite/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

export async function openTestStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const opened = await openSqliteStore(options);
  onTestFinished(() => opened.store.close());
  return opened;
}
