// Which library for SQLite is used, and which versions of SQLite may write a store.
import { expect, test } from 'vitest';
import { chooseDriver } from '../../../src/store/sqlite/driver-choice.ts';
import { refuseUnsafeSqlite } from '../../../src/store/sqlite/safe-sqlite.ts';
import { allDrivers } from '../../support/driver.ts';

const hasBoth = allDrivers.length === 2;
const versions = (node: string, sqlite?: string) => ({ node, napi: '10', sqlite });

test.each([
  ['a Node without SQLite', versions('24.21.0')],
  ['Node 20', versions('20.20.2')],
  ['a Node whose SQLite is an experiment', versions('24.14.1', '3.53.4')],
  ['a Node 25', versions('25.6.0', '3.51.2')],
  ['a Node whose SQLite can damage a store', versions('24.21.0', '3.51.2')],
])('%s gets better-sqlite3', async (_, runtime) => {
  expect((await chooseDriver(runtime)).name).toBe('better-sqlite3');
});

test.runIf(hasBoth)(
  'a Node from 24.15 on gets its own, and better-sqlite3 where that is asked for',
  async () => {
    expect((await chooseDriver(process.versions)).name).toBe('node:sqlite');
    expect((await chooseDriver(process.versions, '')).name).toBe('node:sqlite');
    expect((await chooseDriver(process.versions, 'node:sqlite')).name).toBe('node:sqlite');
    expect((await chooseDriver(process.versions, 'better-sqlite3')).name).toBe('better-sqlite3');
  },
);

test('a driver that does not exist is refused, with the names of those that do', async () => {
  await expect(chooseDriver(process.versions, 'sqlite3')).rejects.toMatchObject({
    code: 'CONFIG',
    message: 'There is no SQLite driver "sqlite3".',
    hint: expect.stringMatching(/PARLEY_SQLITE_DRIVER to one of node:sqlite, better-sqlite3/),
  });
});

test.each([versions('20.20.2'), versions('24.14.1', '3.53.4'), versions('24.21.0')])(
  'node:sqlite is refused where it warns or does not exist: %o',
  async (runtime) => {
    await expect(chooseDriver(runtime, 'node:sqlite')).rejects.toMatchObject({
      code: 'CONFIG',
      message: `node:sqlite of Node ${runtime.node} cannot be used.`,
    });
  },
);

test.each(['3.51.2', '3.50.9', '3.9.100', '2.99.99', ''])(
  'SQLite %j is refused, with a remedy',
  (version) => {
    expect(() => refuseUnsafeSqlite(version, 'Use a newer Node.')).toThrow(
      expect.objectContaining({ code: 'STORE_UNSAFE', hint: 'Use a newer Node.' }),
    );
  },
);

test.each(['3.51.3', '3.51.10', '3.53.0', '4.0.0'])('SQLite %j may write a store', (version) => {
  expect(() => refuseUnsafeSqlite(version, '')).not.toThrow();
});
