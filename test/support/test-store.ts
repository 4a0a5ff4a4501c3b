// A SQLite store for tests in a directory of its own: opened as in the program, removed when the test ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { OpenedStore, SqliteStoreOptions } from '../../src/store/sqlite/open.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'parley-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export async function openTestStore(options: SqliteStoreOptions): Promise<OpenedStore> {
  const opened = await openSqliteStore(options);
  onTestFinished(() => opened.store.close());
  return opened;
}
