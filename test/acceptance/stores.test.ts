// The commands for stores: a store is migrated by a command, or refused by a server that may not migrate it; and stores are copied from SQLite to
// PostgreSQL and back, complete and equal, also if the copy was killed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { schema } from '../../src/store/sqlite/schema.ts';
import { expectFailure } from '../support/failures.ts';
import { endOf, type Outcome } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { lookInto } from '../support/raw-database.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { lockStore } from '../support/store-lock.ts';
import { storeOptions } from '../support/store-options.ts';
import { fillStore } from '../support/stored-sessions.ts';

let server: PostgresServer;
let place: PlaceInProcess;
/** A place without a store. */
let unmade: PlaceInProcess;
beforeAll(async () => {
  server = await startPostgres([]);
  place = new PlaceInProcess();
  unmade = new PlaceInProcess();
  await place.output(['chat', 'Größe 🙂']);
  const deleted = await place.newSession();
  await place.output(['sessions', 'delete', deleted]);
  await place.output(['keys', 'create', '--project', 'other']);
}, 60_000);
afterAll(async () => {
  place.remove();
  unmade.remove();
  await server.stop();
});

const address = (schema: string) =>
  `postgres://parley@127.0.0.1:${server.port}/postgres?connections=2&schema=${schema}`;

const copy = (from: string, to: string, ...more: readonly string[]): Promise<Outcome> =>
  place.parley(['store', 'copy', '--from', from, '--to', to, ...more]);

/** The sessions of the profile's own project, with their messages. */
const exported = (of: PlaceInProcess, ...more: readonly string[]) =>
  of.output(['sessions', 'export', '--all', '--format', 'json', ...more]);

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port: server.port, user: server.user, database: 'postgres' },
  });
  await client.connect();
  return client;
}

async function query<Row extends object>(sql: string): Promise<readonly Row[]> {
  const client = await connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('a store is copied to PostgreSQL and back, and each copy equals its original', async () => {
  const there = address('there');
  const first = await copy(place.dataDirectory, there);
  expect(first.err).toMatch(/Copied 2 projects with 2 keys/);
  expect(first.out).toMatch(
    /^default: 2 sessions, 2 messages, identical in both \(SHA-256 [0-9a-f]{16}…\)$/m,
  );
  const back = removeAfterTest(new PlaceInProcess());
  const second = await copy(there, back.dataDirectory, '--json');
  const { data } = JSON.parse(second.out);
  expect(data).toMatchObject({ to: back.dataDirectory, keys: 2 });
  expect(data.projects.map(({ hash }: { hash: string }) => hash.slice(0, 16))).toEqual(
    Array.from(first.out.matchAll(/SHA-256 ([0-9a-f]{16})/g), ([, hash]) => hash),
  );
  const keys = JSON.parse(readFileSync(place.configFile, 'utf8')).profiles.local.keys;
  const env = { PARLEY_API_KEY: keys[place.dataDirectory] as string };
  expect(await back.output(['sessions', 'export', '--all', '--format', 'json'], { env })).toBe(
    await exported(place),
  );
  expect(
    await place.output(['sessions', 'export', '--all', '--format', 'json', '--store', there], { env }),
  ).toBe(await exported(place));
  const outcome = await place.parley(['sessions', 'delete', '--all', '--store', there], { env });
  expect(outcome.err).toContain(
    `1 session of project default, in the store postgres://127.0.0.1:${server.port}/postgres?schema=there`,
  );
  // A second run finds a complete copy, and does not change it.
  expectFailure(await copy(place.dataDirectory, there), { status: 2, code: 'USAGE' });
  expect((await copy(place.dataDirectory, there, '--resume')).status).toBe(0);
});

test('a killed copy is resumed, and includes later changes of the original', async () => {
  const large = removeAfterTest(new PlaceInProcess());
  await large.newSession();
  const ids = [...fillStore(large.storeFile, 3000)].sort();
  const target = address('killed');
  await large.output(['store', 'migrate', '--store', target]);
  const args = ['store', 'copy', '--from', large.dataDirectory, '--to', target];
  const copied = async () =>
    Number((await query<{ count: string }>('SELECT count(*) FROM killed.sessions'))[0]?.count);
  // A write to this session waits for this transaction, so the copy pauses there.
  const inTheWay = await connect();
  await inTheWay.query('BEGIN');
  await inTheWay.query(
    'INSERT INTO killed.sessions (project, session_id, created_at, updated_at) VALUES (1, $1, 0, 0)',
    [ids[2000]],
  );
  const child = large.spawn(args);
  const ended = endOf(child);
  while ((await copied()) < 1500) expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
  await ended;
  // The waiting statement may still run when the session is free, as after a real kill, and sometimes before the count below.
  const waits = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await inTheWay.query(`SELECT pg_terminate_backend(pid) ${waits}`);
  while ((await inTheWay.query(`SELECT 1 ${waits}`)).rows.length > 0);
  await inTheWay.query('ROLLBACK');
  await inTheWay.end();
  const before = await copied();
  // Batches are written concurrently: the waiting one is missing, and the next ones may be there.
  expect(before).toBeLessThan(3001);
  // Nobody can use the copy before it is complete.
  expect(await query('SELECT 1 FROM killed.api_keys')).toEqual([]);
  lookInto(large.storeFile, (database) =>
    database.prepare('UPDATE sessions SET title = ? WHERE session_id = ?').run('changed', ids[0]),
  );
  const refused = await large.parley(args);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain('--resume');
  expect(await copied()).toBe(before);
  const done = await large.answer<{ projects: [{ sessions: number }] }>([...args, '--resume']);
  expect(done.projects[0].sessions).toBe(3001);
  const titles = await query(`SELECT title FROM killed.sessions WHERE session_id = '${ids[0]}'`);
  expect(titles).toEqual([{ title: 'changed' }]);
});

test('differences are named, and complete copies are not overwritten', async () => {
  const target = address('differs');
  await copy(place.dataDirectory, target);
  const [row] = await query<{ session_id: string }>(
    `UPDATE differs.messages SET content = 'other' FROM differs.sessions
     WHERE sessions.id = messages.session AND position = 1 RETURNING session_id`,
  );
  const outcome = await copy(place.dataDirectory, target, '--resume');
  expectFailure(outcome, { status: 1, code: 'COPY_DIFFERS' });
  expect(outcome.err).toContain(row?.session_id);
  expect(await query(`SELECT 1 FROM differs.messages WHERE content = 'other'`)).toHaveLength(1);
});

test('a copy that somebody may have used before it was complete loses nothing', async () => {
  const target = address('early');
  await copy(place.dataDirectory, target);
  // The state before the note was written.
  await query(`UPDATE early.meta SET value = replace(value, 'true', 'false') WHERE name = 'copy'`);
  await query(`INSERT INTO early.sessions (project, session_id, created_at, updated_at)
    SELECT min(id), 'ses_own', 0, 0 FROM early.projects`);
  const outcome = await copy(place.dataDirectory, target, '--resume');
  expectFailure(outcome, { status: 1, code: 'COPY_DIFFERS' });
  expect(outcome.err).toContain('ses_own (only in the copy)');
  expect(await query(`SELECT 1 FROM early.sessions WHERE session_id = 'ses_own'`)).toHaveLength(1);
  await query(`DELETE FROM early.sessions WHERE session_id = 'ses_own'`);
  expect((await copy(place.dataDirectory, target, '--resume')).status).toBe(0);
});

test('an incomplete copy gets no key, so it cannot be used', async () => {
  const directory = join(place.path, 'part');
  const target = address('part');
  for (const to of [directory, target]) await copy(place.dataDirectory, to);
  // The state before the keys were copied.
  lookInto(join(directory, 'parley.db'), (database) =>
    database.exec(
      `DELETE FROM api_keys; UPDATE meta SET value = replace(value, 'true', 'false') WHERE name = 'copy'`,
    ),
  );
  await query('DELETE FROM part.api_keys');
  await query(`UPDATE part.meta SET value = replace(value, 'true', 'false') WHERE name = 'copy'`);
  const env = { PARLEY_DATA_DIR: directory };
  for (const refused of [
    await place.parley(['sessions', 'list'], { env }),
    await place.parley(['keys', 'create', '--project', 'default'], { env }),
    await place.parley(['keys', 'create', '--project', 'default', '--store', target]),
  ]) {
    expectFailure(refused, { status: 7, code: 'STORE_UNSAFE' });
    expect(refused.err).toContain(`is an incomplete copy of ${place.dataDirectory}.`);
  }
  for (const to of [directory, target])
    expect((await copy(place.dataDirectory, to, '--resume')).status).toBe(0);
  expect((await place.parley(['sessions', 'list'], { env })).status).toBe(0);
});

test('a store is copied only from an existing store, and only into a new one', async () => {
  const none = await copy(join(place.path, 'none'), address('none'));
  expectFailure(none, { status: 7, code: 'STORE_MISSING' });
  const same = await copy(place.dataDirectory, place.storeFile);
  expectFailure(same, { status: 2, code: 'USAGE' });
  const used = removeAfterTest(new PlaceInProcess());
  const id = await used.newSession();
  for (const more of [[], ['--resume']]) {
    const refused = await copy(place.dataDirectory, used.dataDirectory, ...more);
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toContain('default');
  }
  expect(used.rows('SELECT session_id FROM sessions')).toEqual([{ session_id: id }]);
  expectFailure(await copy(address('empty'), join(place.path, 'new')), { status: 7, code: 'STORE_OLDER' });
});

const migrate = ['store', 'migrate'];
const serve = ['serve', '--no-migrate', '--port', '0'];

const engines: readonly (readonly [string, option: () => readonly string[], name: () => string])[] = [
  ['SQLite', () => [], () => unmade.storeFile],
  ['PostgreSQL', () => ['--store', `postgres://parley@127.0.0.1:${server.port}/postgres`], () => '/postgres'],
];

describe.each(engines)('of a store in %s', (_, option, name) => {
  test('there is none: a server that may not migrate refuses, and the command creates it, once', async () => {
    const refused = await unmade.parley([...serve, ...option()]);
    expectFailure(refused, { status: 7, code: 'STORE_OLDER' });
    expect(refused.err).toContain(name());
    expect(refused.err).toContain('parley store migrate');
    expect(await unmade.output([...migrate, ...option()])).toMatch(/^Created store .* with schema \d+\.\n$/);
    expect(await unmade.output([...migrate, ...option()])).toMatch(/ already has schema \d+\.\n$/);
    const again = await unmade.answer<{ from: number; to: number }>([...migrate, ...option()]);
    expect(again.from).toBe(again.to);
  });
});

test('a database that does not answer is named while the command waits, and in its failure', async () => {
  const nowhere = 'postgres://parley@127.0.0.1:1/parley?patience=3';
  const [failed, quiet] = await Promise.all([
    unmade.parley(['--store', nowhere, 'sessions', 'list']),
    unmade.parley(['--store', nowhere, '--quiet', 'sessions', 'list']),
  ]);
  expect(failed.err).toMatch(/^Waiting for the database postgres:\/\/127\.0\.0\.1:1\/parley\.\nparley: /);
  expect(failed.err).toContain('check its address');
  expect(failed).toMatchObject({ status: 6, out: '' });
  expect(quiet.err).toMatch(/^parley: /);
});

/** A place whose store another process creates, which holds its lock for this time. */
async function lockedPlace(holdMs: number) {
  const locked = removeAfterTest(new PlaceInProcess());
  mkdirSync(locked.dataDirectory, { recursive: true, mode: 0o700 });
  writeFileSync(locked.storeFile, '', { mode: 0o600 });
  return { locked, ...(await lockStore(locked.storeFile, holdMs)) };
}

test('--timeout shortens the wait of a migration for a locked store', async () => {
  // Without the option, it would wait for these three seconds, and then succeed.
  const { locked, release } = await lockedPlace(3000);
  expectFailure(await locked.parley(['--timeout', '0.2', ...migrate]), { status: 7, code: 'STORE_BUSY' });
  await release();
});

test('a command that waits for a new store which another program holds says so, and not with --quiet', async () => {
  const { locked } = await lockedPlace(3000);
  const [waiting, quiet] = await Promise.all([
    locked.parley(['models']),
    locked.parley(['models', '--quiet']),
  ]);
  const notice = `Waiting for the store ${locked.dataDirectory}, which another program holds.\n`;
  expect(waiting).toMatchObject({ status: 0, err: expect.stringContaining(notice) });
  expect(quiet).toMatchObject({ status: 0, err: '' });
});

test('login to a store without a terminal names that store, and how to create a key of it', async () => {
  const store = 'postgres://parley@127.0.0.1:1/parley';
  const failed = await unmade.parley(['login', '--profile', 'shared', '--store', store]);
  expectFailure(failed, { status: 2, code: 'USAGE' });
  expect(failed.err).toContain('Key for the store postgres://127.0.0.1:1/parley: there is no terminal');
  expect(failed.err).toContain('parley keys create --store URL --project NAME');
});

test('an older store of SQLite is migrated by the command, which names the copy that it kept', async () => {
  const older = removeAfterTest(new PlaceInProcess());
  const newest = schema.length;
  const migrations = schema.slice(0, -1);
  const { store } = await openSqliteStore({ ...storeOptions(older.dataDirectory), migrations });
  await store.close();
  expectFailure(await older.parley(serve), { status: 7, code: 'STORE_OLDER' });
  const { out: said } = await older.terminal('stty cols 100 && parley store migrate');
  expect(said).toMatch(
    /Migrating the store if needed\. A large store takes a while\.\x1b\[K\r\x1b\[KMigrated/,
  );
  expect(said).toContain(`from schema ${newest - 1} to ${newest}`);
  expect(said).toContain(`parley.db.backup-v${newest - 1}`);
});

test('a command that migrates an older store of SQLite says so first, once, and not with --quiet', async () => {
  const newest = schema.length;
  const migrations = schema.slice(0, -1);
  const olderPlace = async () => {
    const older = removeAfterTest(new PlaceInProcess());
    await (await openSqliteStore({ ...storeOptions(older.dataDirectory), migrations })).store.close();
    return older;
  };
  const older = await olderPlace();
  const first = await older.parley(['models']);
  expect(first.err).toMatch(
    new RegExp(
      `^Migrating the store ${older.dataDirectory} from schema ${newest - 1} to ${newest}\\. A copy of the old one is kept beside it\\.\n`,
    ),
  );
  expect((await older.parley(['models'])).err).not.toContain('Migrating');
  expect((await (await olderPlace()).parley(['models', '--quiet'])).err).toBe('');
});
