// The options that every store of a test needs. Independent of the test runner, so that a process of a test can use it too.
import { storeRules } from '../../src/local/local-store-rules.ts';
import type { SqliteStoreOptions } from '../../src/store/sqlite/open.ts';
import { driver } from './driver.ts';

export function storeOptions(directory: string): SqliteStoreOptions {
  const all = { directory, driver, now: Date.now, random: Math.random };
  return { ...all, sinceBoot, rules: storeRules };
}

/** As the program reads it. */
export function sinceBoot(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
