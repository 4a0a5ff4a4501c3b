// Modes in the database: changed as a whole from a version that was read, and sent to servers with their beats.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { ModeSet, ModeStore } from '../../../src/store/mode-store.ts';
import { openPostgresModes } from '../../../src/store/postgres/open.ts';
import { schema as migrations } from '../../../src/store/postgres/schema.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { newKey } from '../store-samples.ts';

let database: PostgresServer;
beforeAll(async () => {
  database = await startPostgres();
}, 60_000);
afterAll(() => database.stop());

const host = () => ({ host: '127.0.0.1', port: database.port, user: database.user, database: 'postgres' });

async function openModes(schema: string): Promise<ModeStore> {
  const modes = await openPostgresModes(postgresOptions(database, { schema, connections: 1 }));
  onTestFinished(() => modes.close());
  return modes;
}

const set = (
  version: string,
  modes: Readonly<Record<string, string>>,
  chosen: string | null = null,
): ModeSet => ({
  version,
  default_mode: chosen,
  modes: Object.entries(modes).map(([name, settings]) => ({ name, settings })),
});

test('are read as they were given, in the order in which they were added', async () => {
  const modes = await openModes('kept');
  const empty = await modes.read();
  expect(empty).toMatchObject({ default_mode: null, modes: [] });
  const first = set('1', { z: '{"a": "\\u0000 é"}', a: 'no JSON' }, 'echo');
  expect(await modes.replace(empty.version, first)).toBe(true);
  expect(await modes.read()).toEqual(first);
  expect(await modes.replace('1', set('2', { b: '{}', a: '{ }', z: '{}' }))).toBe(true);
  expect(await modes.read()).toEqual(set('2', { z: '{}', a: '{ }', b: '{}' }));
  expect(await modes.replace('2', set('3', { b: '{}' }))).toBe(true);
  expect(await modes.read()).toEqual(set('3', { b: '{}' }));
});

test('are not changed from an older version, and once where the answer to a change was lost', async () => {
  const modes = await openModes('changed');
  const { version } = await modes.read();
  const next = set('1', { a: '{}' });
  expect(await modes.replace(version, next)).toBe(true);
  expect(await modes.replace(version, set('2', { other: '{}' }))).toBe(false);
  expect(await modes.replace(version, next)).toBe(true);
  expect(await modes.read()).toEqual(next);
});

test('that many change at the same moment are changed by one of them', async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => openModes('raced')));
  const { version } = await (all[0] as ModeStore).read();
  const done = await Promise.all(
    all.map((modes, number) => modes.replace(version, set(`v${number}`, { [`m${number}`]: '{}' }))),
  );
  const winner = done.indexOf(true);
  expect(done.filter(Boolean)).toHaveLength(1);
  expect(await all[0]?.read()).toEqual(set(`v${winner}`, { [`m${winner}`]: '{}' }));
});

test('are sent to each server with a beat after a change, also one from before it listened', async () => {
  const schema = 'told';
  const open = (owner: string) =>
    openTestPostgres(database, { schema, server: { owner, beatMs: 30, leaseMs: 60_000 } });
  const servers = await Promise.all([open('a'), open('b')]);
  const modes = await openModes(schema);
  const { version } = await modes.read();
  await modes.replace(version, set('1', { a: '{}' }));
  await database.rows(
    `CREATE TABLE ${schema}.changed AS SELECT clock_timestamp() + interval '1 minute' AS at`,
  );
  const beaten = () =>
    database.rows(`SELECT bool_and(until > at) AS all FROM ${schema}.servers, ${schema}.changed`);
  await expect.poll(beaten).toEqual([{ all: true }]);
  const received = servers.map((server) => {
    const sets: ModeSet[] = [];
    server.modes.follow((now) => sets.push(now));
    return sets;
  });
  const first = set('1', { a: '{}' });
  await expect.poll(() => received).toEqual([[first], [first]]);
  // After a restart of the database the servers still have their modes, and get the next change.
  await database.crash(100);
  const second = set('2', { b: '{}' }, 'b');
  await modes.replace('1', second);
  await expect
    .poll(() => received)
    .toEqual([
      [first, second],
      [first, second],
    ]);
});

test('are only read by a server, so that its user needs no right to change them', async () => {
  const schema = 'guarded';
  await openModes(schema);
  for (const sql of [
    'CREATE ROLE reader LOGIN',
    `GRANT USAGE ON SCHEMA ${schema} TO reader`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO reader`,
    `REVOKE INSERT, UPDATE, DELETE ON ${schema}.modes, ${schema}.meta FROM reader`,
  ]) {
    await database.rows(sql);
  }
  const options = { schema, hosts: [{ ...host(), user: 'reader' }] };
  const server = { owner: 'a', beatMs: 30, leaseMs: 60_000 };
  const { store, modes } = await openTestPostgres(database, { ...options, server });
  await store.createKey(newKey());
  const { version } = await modes.read();
  const guarded = await openPostgresModes(postgresOptions(database, options));
  onTestFinished(() => guarded.close());
  await expect(guarded.replace(version, set('1', {}))).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
});

test('leave all that a server of the version before uses as it was', async () => {
  const tables = (schema: string) =>
    database.rows(`
      SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
      WHERE table_schema = '${schema}' AND table_name <> 'modes' ORDER BY table_name, ordinal_position`);
  for (const [schema, versions] of [
    ['before', 2],
    ['after', 3],
  ] as const) {
    await database.rows(`CREATE SCHEMA ${schema}`);
    for (const { sql } of migrations.slice(0, versions))
      await database.rows(sql.replaceAll('parley.', `${schema}.`));
  }
  expect(await tables('before')).toEqual(await tables('after'));
});
