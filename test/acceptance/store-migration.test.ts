// The schema of a store as its owner handles it: migrated by a command, or refused by a server that is not to change it.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { schema } from '../../src/store/sqlite/schema.ts';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { storeOptions } from '../support/store-options.ts';

let server: PostgresServer;
let place: Place;
beforeAll(async () => {
  server = await startPostgres([]);
  place = new Place();
}, 60_000);
afterAll(() => {
  place.remove();
  server.stop();
});

const migrate = ['store', 'migrate'];
const serve = ['serve', '--no-migrate', '--port', '0'];

const engines: readonly (readonly [string, option: () => readonly string[], name: () => string])[] = [
  ['SQLite', () => [], () => place.storeFile],
  ['PostgreSQL', () => ['--store', `postgres://parley@127.0.0.1:${server.port}/postgres`], () => '/postgres'],
];

describe.each(engines)('of a store in %s', (_, option, name) => {
  test('there is none: a server that may not migrate refuses, and the command makes it, once', async () => {
    const refused = await place.parley([...serve, ...option()]);
    expectFailure(refused, { status: 7, code: 'STORE_OLDER' });
    expect(refused.err).toContain(name());
    expect(refused.err).toContain('parley store migrate');
    expect(await place.output([...migrate, ...option()])).toMatch(/^Made the store .* with schema \d+\.\n$/);
    expect(await place.output([...migrate, ...option()])).toMatch(/ has schema \d+: nothing to do\.\n$/);
    const again = await place.answer<{ from: number; to: number }>([...migrate, ...option()]);
    expect(again.from).toBe(again.to);
  });
});

test('an older store of SQLite is migrated by the command, which names the copy that it kept', async () => {
  const older = new Place();
  onTestFinished(() => older.remove());
  const newest = schema.length;
  const migrations = schema.slice(0, -1);
  const { store } = await openSqliteStore({ ...storeOptions(older.dataDirectory), migrations });
  await store.close();
  expectFailure(await older.parley(serve), { status: 7, code: 'STORE_OLDER' });
  const said = await older.output(migrate);
  expect(said).toContain(`from schema ${newest - 1} to ${newest}`);
  expect(said).toContain(`parley.db.backup-v${newest - 1}`);
});
