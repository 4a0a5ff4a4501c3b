// A SQLite store without projects, copied from one that this process has created once, because its migrations take ten times as long as the copy.
// Tests of the migrations and of first uses open their stores without it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { storeOptions } from './store-options.ts';

const name = 'parley.db';
let made: Promise<Buffer> | null = null;

/** Copies a store into a directory that has none. */
export async function placeStore(directory: string): Promise<void> {
  const path = join(directory, name);
  if (existsSync(path)) return;
  made ??= newStore();
  const bytes = await made;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Another caller may have been faster.
  if (!existsSync(path)) writeFileSync(path, bytes, { mode: 0o600 });
}

async function newStore(): Promise<Buffer> {
  const directory = mkdtempSync(join(tmpdir(), 'parley-made-'));
  try {
    const { store } = await openSqliteStore(storeOptions(directory));
    await store.close();
    return readFileSync(join(directory, name));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
