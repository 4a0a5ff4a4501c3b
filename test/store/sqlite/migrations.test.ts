// Migrations: a copy first, a step as a whole or not at all, and no use by an older Parley.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import type { Migration } from '../../../src/store/sqlite/schema.ts';
import { schema } from '../../../src/store/sqlite/schema.ts';
import { newestSchema } from '../../../src/store/sqlite/schema-version.ts';
import { addProject, olderStore } from '../../support/older-store.ts';
import { lookInto, RawDatabase } from '../../support/raw-database.ts';
import { SmallDisk } from '../../support/small-disk.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import {
  bareSession,
  everySession,
  firstPage,
  newProject,
  newSession,
  type SampleFilter,
} from '../store-samples.ts';

const newest = schema.length;
const later: Migration = {
  version: newest + 1,
  parleyVersion: '0.9.0',
  sql: 'ALTER TABLE sessions ADD COLUMN colour TEXT',
};
const broken: Migration = { ...later, sql: `${later.sql}; INSERT INTO nothing VALUES (1)` };

async function storeWithOneSession(directory: string) {
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const id = await newSession(store, project, { title: 'before' });
  await store.close();
  return { project, id, path: join(directory, 'parley.db') };
}

function titles(path: string): unknown {
  return lookInto(path, (database) => database.prepare('SELECT title FROM sessions').pluck().all());
}

it('the version that a start compares with is that of the last migration', () => {
  expect(newestSchema).toBe(schema.at(-1)?.version);
});

it('copies a store before it changes it, in a private file with the old content', async () => {
  const directory = temporaryDirectory();
  const { project, id, path } = await storeWithOneSession(directory);
  const umask = process.umask(0);
  onTestFinished(() => {
    process.umask(umask);
  });
  const { store } = await openTestStore({ ...storeOptions(directory), migrations: [...schema, later] });
  expect((await store.inspect()).schema_version).toBe(newest + 1);
  expect((await store.findSession(project, id))?.title).toBe('before');
  const backup = `${path}.backup-v${newest}`;
  expect(statSync(backup).mode & 0o777).toBe(0o600);
  expect(titles(backup)).toEqual(['before']);
  expect(lookInto(backup, (database) => database.pragma('user_version', { simple: true }))).toBe(newest);
});

it('refuses an older or missing store if the caller asked not to migrate it, and changes nothing', async () => {
  const directory = temporaryDirectory();
  const missing = join(directory, 'missing');
  await storeWithOneSession(directory);
  for (const place of [directory, missing]) {
    const options = { ...storeOptions(place), migrations: [...schema, later], refusesOlder: true };
    await expect(openSqliteStore(options)).rejects.toMatchObject({ code: 'STORE_OLDER' });
  }
  expect(existsSync(missing)).toBe(false);
  const { store } = await openTestStore({ ...storeOptions(directory), refusesOlder: true });
  expect((await store.inspect()).schema_version).toBe(newest);
});

it.each(schema.slice(0, -1).map(({ version }) => version))(
  'a store of schema %i opens, and lists by creation and by activity, active and deleted sessions',
  async (version) => {
    const directory = temporaryDirectory();
    const path = join(directory, 'parley.db');
    const older = { ...storeOptions(directory), migrations: schema.slice(0, version) };
    await (await openSqliteStore(older)).store.close();
    const project = addProject(path);
    const add = `INSERT INTO sessions (session_id, project, created_at, updated_at, deleted_at)
      VALUES (?, (SELECT id FROM projects), ?, ?, ?)`;
    lookInto(path, (database) => {
      expect(database.pragma('user_version', { simple: true })).toBe(version);
      for (const [id, ...times] of [
        ['b', 1, 9, null],
        ['a', 1, 7, null],
        ['c', 2, 8, null],
        ['gone', 1, 1, 3],
        ['went', 0, 2, 3],
      ]) {
        database.prepare(add).run(id, ...times);
      }
    });
    const { store } = await openTestStore(storeOptions(directory));
    const list = async (filter: SampleFilter) =>
      (await store.listSessions(project, everySession(filter))).items.map(({ session_id }) => session_id);
    expect(await list({ sort: 'created' })).toEqual(['c', 'b', 'a']);
    expect(await list({ sort: 'created', order: 'asc' })).toEqual(['a', 'b', 'c']);
    expect(await list({ sort: 'created', deleted: true })).toEqual(['gone', 'went']);
    expect(await list({})).toEqual(['b', 'c', 'a']);
    expect(await list({ order: 'asc', deleted: true })).toEqual(['gone', 'went']);
  },
);

it('a session of schema 9 keeps its rows as they are, has no settings, and the mode of its last message', async () => {
  const directory = temporaryDirectory();
  const { path, project, session } = await olderStore(directory, 9);
  lookInto(path, (database) => {
    database.exec(`
      WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 999)
      INSERT INTO sessions (session_id, project, title, created_at, updated_at)
        SELECT 'ses_' || n, project, printf('%0200d', n), 1, 1 FROM sessions, numbers;
      INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
        SELECT id, position, 'msg_' || position, role, mode, reason, 0, 'x' FROM sessions,
          (SELECT 0 AS position, 'user' AS role, 'one' AS mode, NULL AS reason
           UNION ALL SELECT 1, 'assistant', 'fallback', 'stop' UNION ALL SELECT 2, 'user', 'two', NULL)
        WHERE session_id = '${session}';
      UPDATE sessions SET message_count = 3 WHERE session_id = '${session}'`);
    database.pragma('wal_checkpoint(TRUNCATE)');
  });
  const before = readFileSync(path);
  const { store } = await openSqliteStore(storeOptions(directory));
  expect(await store.findSession(project, session)).toMatchObject({ ...bareSession, mode: 'two' });
  expect(await store.findSession(project, 'ses_7')).toMatchObject(bareSession);
  await store.close();
  const after = readFileSync(path);
  const pages = Array.from({ length: before.length / 4096 }, (_, page) => page);
  const changed = pages.filter(
    (page) => before.compare(after, page * 4096, (page + 1) * 4096, page * 4096, (page + 1) * 4096) !== 0,
  );
  const used = lookInto(path, (database) =>
    database.prepare('SELECT name, pageno - 1 AS page FROM dbstat').all(),
  ) as readonly { readonly name: string; readonly page: number }[];
  const written = (name: RegExp) =>
    used.filter((row) => name.test(row.name) && changed.includes(row.page)).length;
  expect(used.filter(({ name }) => name === 'sessions').length).toBeGreaterThan(50);
  expect(written(/^(sessions|messages)$/)).toBe(0);
  // The indexes that leave archived sessions out are built anew, in pages that the earlier ones have left.
  expect(changed.length - written(/^sessions_(active|archived)/)).toBeLessThan(10);
});

it('a turn that is open in a store of schema 14 can store the text of its reply', async () => {
  const directory = temporaryDirectory();
  const { path, project, session } = await olderStore(directory, 14);
  lookInto(path, (database) =>
    database.exec(`
      INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
        SELECT id, 0, 'msg_0', 'user', 'echo', 0, 'Hello' FROM sessions WHERE session_id = '${session}';
      UPDATE sessions SET message_count = 1, turn_owner = 'owner-1', turn_until = 1, turn_position = 0, turn_epoch = 1
        WHERE session_id = '${session}'`),
  );
  const { store } = await openTestStore(storeOptions(directory));
  const place = { session_id: session, message_id: 'msg_0', position: 0, content: 'Hello', mode: 'echo' };
  const turn = { ...place, owner: 'owner-1', epoch: 1 };
  const part = { at: 0, content: 'Once', message_id: 'msg_part', mode: 'echo', now: 1 };
  expect(await store.renewTurn(project, turn, 0, part)).toBe(true);
  expect((await store.listMessages(project, session, firstPage))?.items).toMatchObject([
    { content: 'Hello' },
    { content: 'Once', finish_reason: 'interrupted' },
  ]);
});

it('makes no copy of a store that is new or up to date', async () => {
  const directory = temporaryDirectory();
  await storeWithOneSession(directory);
  await (await openSqliteStore(storeOptions(directory))).store.close();
  expect(readdirSync(directory)).toEqual(['parley.db']);
});

it('never overwrites a copy, but gives the next one a number', async () => {
  const directory = temporaryDirectory();
  const { path } = await storeWithOneSession(directory);
  writeFileSync(`${path}.backup-v${newest}`, 'an earlier copy');
  await openTestStore({ ...storeOptions(directory), migrations: [...schema, later] });
  expect(readFileSync(`${path}.backup-v${newest}`, 'utf8')).toBe('an earlier copy');
  expect(titles(`${path}.backup-v${newest}-2`)).toEqual(['before']);
});

it('names the copy when the new schema is ready, so that migrations killed one after another leave one copy', async () => {
  const directory = temporaryDirectory();
  await storeWithOneSession(directory);
  const options = { ...storeOptions(directory), migrations: [...schema, later] };
  const atWork: string[][] = [];
  const open = (path: string) => {
    const database = options.driver.open(path);
    const exec = database.exec.bind(database);
    database.exec = (sql) => {
      if (sql === later.sql) atWork.push(readdirSync(directory).filter((name) => name.includes('backup')));
      exec(sql);
    };
    return database;
  };
  // A migration that was killed has left this file.
  writeFileSync(join(directory, 'parley.db.backup-part'), 'unfinished');
  await openTestStore({ ...options, driver: { ...options.driver, open } });
  expect(atWork).toEqual([['parley.db.backup-part']]);
  expect(readdirSync(directory).filter((name) => name.includes('backup'))).toEqual([
    `parley.db.backup-v${newest}`,
  ]);
});

it('leaves the unnamed copy of a process that migrates the store after a failure here', async () => {
  const directory = temporaryDirectory();
  await storeWithOneSession(directory);
  const options = { ...storeOptions(directory), migrations: [...schema, broken] };
  const part = join(directory, 'parley.db.backup-part');
  const open = (path: string) => {
    const database = options.driver.open(path);
    const exec = database.exec.bind(database);
    database.exec = (sql) => {
      exec(sql);
      if (sql === 'ROLLBACK') writeFileSync(part, 'of the other process');
    };
    return database;
  };
  const failure = { code: 'INTERNAL_ERROR' };
  await expect(openSqliteStore({ ...options, driver: { ...options.driver, open } })).rejects.toMatchObject(
    failure,
  );
  expect(readFileSync(part, 'utf8')).toBe('of the other process');
});

it('rolls back a step that fails, leaves no copy, and leaves the store usable in its old schema', async () => {
  const directory = temporaryDirectory();
  const { project, id } = await storeWithOneSession(directory);
  const options = { ...storeOptions(directory), migrations: [...schema, broken] };
  await expect(openSqliteStore(options)).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  expect(readdirSync(directory)).toEqual(['parley.db']);
  const { store } = await openTestStore(storeOptions(directory));
  expect((await store.inspect()).schema_version).toBe(newest);
  expect((await store.findSession(project, id))?.title).toBe('before');
});

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());

it.skipIf(disk === null)(
  'leaves no copy on a disk that is too small for the new schema, and is announced once',
  async () => {
    const directory = disk?.path ?? '';
    const { path } = await storeWithOneSession(directory);
    const large = { ...later, sql: 'CREATE TABLE large AS SELECT zeroblob(1000000) AS content' };
    disk?.fill(120);
    const before = readdirSync(directory).toSorted();
    const announced: unknown[] = [];
    const announce = async (versions: unknown) => void announced.push(versions);
    const options = { ...storeOptions(directory), migrations: [...schema, large], announce };
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(openSqliteStore(options)).rejects.toMatchObject({ code: 'STORAGE_FULL' });
      expect(readdirSync(directory).toSorted()).toEqual(before);
      expect(announced.length).toBe(attempt + 1);
    }
    expect(titles(path)).toEqual(['before']);
    disk?.free();
    await (await openSqliteStore(options)).store.close();
    expect(titles(`${path}.backup-v${newest}`)).toEqual(['before']);
  },
);

it('migrates once when several open the store at the same moment', async () => {
  const directory = temporaryDirectory();
  const { path } = await storeWithOneSession(directory);
  const options = { ...storeOptions(directory), migrations: [...schema, later] };
  await Promise.all([openTestStore(options), openTestStore(options), openTestStore(options)]);
  expect(readdirSync(directory).filter((name) => name.includes('backup'))).toEqual([
    `parley.db.backup-v${newest}`,
  ]);
  expect(titles(`${path}.backup-v${newest}`)).toEqual(['before']);
});

it('waits up to a minute for a process that may be migrating the store, until the signal', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const directory = temporaryDirectory();
  const { path } = await storeWithOneSession(directory);
  const holder = new RawDatabase(path);
  onTestFinished(() => void holder.close());
  holder.exec('BEGIN IMMEDIATE');
  const stop = new AbortController();
  const options = { ...storeOptions(directory), migrations: [...schema, later] };
  const refused = expect(openSqliteStore(options)).rejects.toMatchObject({ code: 'STORE_BUSY' });
  const stopped = expect(openSqliteStore({ ...options, stopSignal: stop.signal })).rejects.toBe('stopped');
  const waiting = openTestStore({ ...options, stopSignal: new AbortController().signal });
  await vi.advanceTimersByTimeAsync(10_000);
  await refused;
  stop.abort('stopped');
  await vi.advanceTimersByTimeAsync(100);
  await stopped;
  await vi.advanceTimersByTimeAsync(40_000);
  holder.exec('ROLLBACK');
  await vi.advanceTimersByTimeAsync(100);
  expect((await waiting).migration.from).toBe(newest);
});

it('refuses a store of a newer Parley, names the version that it needs, and leaves every byte of it', async () => {
  const directory = temporaryDirectory();
  const { path } = await storeWithOneSession(directory);
  await (await openSqliteStore({ ...storeOptions(directory), migrations: [...schema, later] })).store.close();
  const before = readFileSync(path);
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_NEWER',
    message: expect.stringContaining(
      `schema ${newest + 1}, made by Parley 0.9.0 or newer; this Parley knows schema ${newest}`,
    ),
    hint: expect.stringContaining('Parley 0.9.0 or newer'),
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

it('does not advise the own version for a store that another build of this version has made', async () => {
  const directory = temporaryDirectory();
  const { version } = manifest;
  const migrations = [...schema, { ...later, parleyVersion: version }];
  await (await openSqliteStore({ ...storeOptions(directory), migrations })).store.close();
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_NEWER',
    message: expect.stringContaining(`schema ${newest + 1}, made by a later build of Parley ${version};`),
    hint: 'Use that build, or a later one. The store was not changed.',
  });
});

it.each(schema.filter(({ version }) => version < 7).map(({ version }) => version))(
  'a store of schema %i keeps its sessions, messages and idempotency keys, and may then hold an id in two projects',
  async (version) => {
    const directory = temporaryDirectory();
    const path = join(directory, 'parley.db');
    const older = { ...storeOptions(directory), migrations: schema.slice(0, version) };
    await (await openSqliteStore(older)).store.close();
    const [mine, other] = [addProject(path), addProject(path)];
    lookInto(path, (database) => {
      // A store in use: of three sessions the first is purged, and one is deleted.
      database.exec(`
        INSERT INTO sessions (session_id, project, title, created_at, updated_at, message_count, deleted_at)
          VALUES ('gone', 1, NULL, 1, 1, 0, NULL), ('a', 1, 'first', 1, 2, 1, NULL), ('b', 2, 'second', 1, 2, 1, 3);
        DELETE FROM sessions WHERE session_id = 'gone';
        UPDATE sessions SET turn_owner = 'x', turn_until = 1, turn_position = 0 WHERE session_id = 'a';
        INSERT INTO messages (session, position, message_id, role, mode, created_at, content)
          SELECT id, 0, 'msg_' || session_id, 'user', 'echo', 2, 'said in ' || session_id FROM sessions;
        INSERT INTO idempotency (project, key, request_hash, message, created_at) VALUES (1, 'k', x'00', 1, 2);`);
    });
    const { store } = await openSqliteStore(storeOptions(directory));
    const saidIn = async (project: string, id: string) =>
      (await store.listMessages(project, id, firstPage))?.items.map(({ content }) => content);
    expect(await saidIn(mine, 'a')).toEqual(['said in a']);
    expect(await store.restoreSession(other, 'b', null)).toMatchObject({ value: { title: 'second' } });
    expect(await saidIn(other, 'b')).toEqual(['said in b']);
    expect(await store.createSession(other, { session_id: 'a', title: 'own', now: 5 }, null)).toMatchObject({
      kind: 'done',
    });
    expect(await saidIn(other, 'a')).toEqual([]);
    expect((await store.inspect()).integrity).toBe('ok');
    await store.close();
    lookInto(path, (database) => {
      expect(database.pragma('foreign_key_check')).toEqual([]);
      expect(database.prepare(`SELECT turn_owner FROM sessions WHERE title = 'first'`).pluck().get()).toBe(
        'x',
      );
      expect(database.prepare('SELECT message FROM idempotency').pluck().all()).toEqual([1]);
    });
  },
);
