// The compiled half of better-sqlite3: which versions of SQLite may write a store.
import { expect, it } from 'vitest';
import { refuseUnsafeSqlite } from '../../../src/store/sqlite/binding.ts';

it.each(['3.51.2', '3.50.9', '3.9.100', '2.99.99', ''])('SQLite %j is refused, with a remedy', (version) => {
  expect(() => refuseUnsafeSqlite(version)).toThrow(
    expect.objectContaining({ code: 'STORE_UNSAFE', hint: expect.stringContaining('better-sqlite3@latest') }),
  );
});

it.each(['3.51.3', '3.51.10', '3.53.0', '4.0.0'])('SQLite %j may write a store', (version) => {
  expect(() => refuseUnsafeSqlite(version)).not.toThrow();
});
