// The options that every store of a test needs; the test adds what it is about. Free of the test runner, so that a process of
// a test can use it too.
import type { SqliteStoreOptions } from '../../src/store/sqlite/open.ts';

export function storeOptions(directory: string): SqliteStoreOptions {
  const { napi } = process.versions;
  return { directory, nodeApiVersion: Number(napi), now: Date.now, random: Math.random };
}
