// Opening a store: new files are private and durable, and an unsafe store is refused with a remedy.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Connection } from '../../../src/store/sqlite/connection.ts';
import { checkEveryMs } from '../../../src/store/sqlite/files-in-place.ts';
import { openSqliteRows, openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { schema } from '../../../src/store/sqlite/schema.ts';
import { type ProcessesOf, StoreProcesses } from '../../../src/store/sqlite/store-processes.ts';
import { allDrivers } from '../../support/driver.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { newKey, newProject, newSession, turnReply, turnStart } from '../store-samples.ts';

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

function underUmask(mask: number): void {
  const before = process.umask(mask);
  onTestFinished(() => {
    process.umask(before);
  });
}

it('reports the settings of the open store as read back', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), filesystemType: () => 'ext4' });
  const report = await store.inspect();
  expect(report).toMatchObject({
    ...{ place: join(directory, 'parley.db'), schema_version: schema.length, integrity: 'ok' },
    facts: [
      { name: 'SQLite', value: expect.stringMatching(/^3\.\d+\.\d+$/) },
      { name: 'journal', value: 'wal' },
      { name: 'synchronous', value: 'full' },
      { name: 'file system', value: 'ext4' },
    ],
  });
  expect(report.bytes).toBe(statSync(report.place).size);
});

it.each(allDrivers)('makes $name sync through the cache of the disk, also on macOS', (library) => {
  const path = join(temporaryDirectory(), 'parley.db');
  writeFileSync(path, '');
  const connection = Connection.open(library, path);
  connection.setUp();
  expect([connection.pragma('synchronous'), connection.pragma('fullfsync')]).toEqual([2, 1]);
  connection.close();
});

it('names the file system that the kernel names', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const { facts } = await store.inspect();
  const value = facts.find(({ name }) => name === 'file system')?.value;
  expect(value).toMatch(/^([a-z0-9]+|unknown \(0x[0-9a-f]+\))$/);
});

it('reports a store as new until it holds a project', async () => {
  const directory = temporaryDirectory();
  const first = await openSqliteStore(storeOptions(directory));
  expect(first.created).toBe(true);
  await first.store.close();
  const second = await openSqliteStore(storeOptions(directory));
  expect(second.created).toBe(true);
  await second.store.createKey(newKey());
  await second.store.close();
  expect((await openTestStore(storeOptions(directory))).created).toBe(false);
});

it.each([0o000, 0o077, 0o277])('makes the directory 0700 and all files 0600 under umask %o', async (mask) => {
  const parent = temporaryDirectory();
  underUmask(mask);
  const directory = join(parent, 'data');
  const { store } = await openTestStore(storeOptions(directory));
  await newProject(store);
  expect(modeOf(directory)).toBe('700');
  expect(readdirSync(directory).sort()).toEqual(['parley.db', 'parley.db-shm', 'parley.db-wal']);
  for (const name of readdirSync(directory))
    expect([name, modeOf(join(directory, name))]).toEqual([name, '600']);
});

it('makes missing parents 0700 under umask 000', async () => {
  const parent = temporaryDirectory();
  underUmask(0);
  await openTestStore(storeOptions(join(parent, 'a/b/c')));
  expect([modeOf(join(parent, 'a')), modeOf(join(parent, 'a/b')), modeOf(join(parent, 'a/b/c'))]).toEqual([
    ...['700', '700', '700'],
  ]);
});

it('removes the rights of other users from a store file, and leaves a directory of the user unchanged', async () => {
  const directory = join(temporaryDirectory(), 'mine');
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  await (await openSqliteStore(storeOptions(directory))).store.close();
  chmodSync(join(directory, 'parley.db'), 0o664);
  await openTestStore(storeOptions(directory));
  expect(modeOf(join(directory, 'parley.db'))).toBe('600');
  expect(modeOf(directory)).toBe('755');
});

it.each(['-wal', '-shm', '-journal'])('refuses a file %s beside the store that is a link', async (ending) => {
  const directory = temporaryDirectory();
  const elsewhere = join(temporaryDirectory(), 'mine');
  writeFileSync(elsewhere, '');
  await (await openSqliteStore(storeOptions(directory))).store.close();
  const path = join(directory, `parley.db${ending}`);
  symlinkSync(elsewhere, path);
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    message: expect.stringContaining(path),
  });
  expect(statSync(elsewhere).size).toBe(0);
});

it('removes the rights of other users from a log that exists already', async () => {
  const directory = temporaryDirectory();
  const log = join(directory, 'parley.db-wal');
  writeFileSync(log, '');
  chmodSync(log, 0o666);
  const { store } = await openTestStore(storeOptions(directory));
  await newProject(store);
  expect(modeOf(log)).toBe('600');
});

it.skipIf(process.getuid?.() !== 0)('refuses a log that belongs to another user', async () => {
  const directory = temporaryDirectory();
  const log = join(directory, 'parley.db-wal');
  writeFileSync(log, '');
  chownSync(log, 65_534, 65_534);
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    message: expect.stringContaining(log),
    hint: expect.stringContaining('it may hold the newest turns'),
  });
});

it('keeps its content when it is opened again', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const id = await newSession(store, project, { title: 'kept' });
  const session = await store.findSession(project, id);
  await store.close();
  const again = await openTestStore(storeOptions(directory));
  expect(await again.store.findSession(project, id)).toEqual(session);
});

it.each(['data', 'data/below'])('refuses %s where data is a file', async (name) => {
  const parent = temporaryDirectory();
  writeFileSync(join(parent, 'data'), 'mine');
  await expect(openSqliteStore(storeOptions(join(parent, name)))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    message: `The data directory ${join(parent, name)} cannot be used: ${join(parent, 'data')} is not a directory.`,
    hint: expect.stringContaining('PARLEY_DATA_DIR'),
  });
  expect(readFileSync(join(parent, 'data'), 'utf8')).toBe('mine');
});

it('refuses a directory below a broken link', async () => {
  const parent = temporaryDirectory();
  symlinkSync(join(parent, 'nowhere'), join(parent, 'link'));
  await expect(openSqliteStore(storeOptions(join(parent, 'link/data')))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    message: expect.stringContaining(join(parent, 'link')),
  });
});

it('refuses a directory where nothing can be made', async () => {
  await expect(openSqliteStore(storeOptions('/proc/parley'))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    message: expect.stringContaining('/proc/parley'),
  });
});

it('refuses a path that is too long for SQLite, and says so', async () => {
  const directory = join(temporaryDirectory(), ...Array.from({ length: 5 }, () => 'd'.repeat(110)));
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    hint: `SQLite opens no path of more than 504 bytes, and this one has ${directory.length + 10}. Set PARLEY_DATA_DIR to a shorter one.`,
  });
});

it('refuses a store if a directory has its name', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'parley.db'));
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
});

it.each(['nfs', 'cifs', 'smb2', 'ceph'])(
  'refuses a data directory on %s, and makes no file there',
  async (type) => {
    const directory = temporaryDirectory();
    await expect(
      openSqliteStore({ ...storeOptions(directory), filesystemType: () => type }),
    ).rejects.toMatchObject({
      code: 'STORE_UNSAFE',
      message: expect.stringContaining(type),
      hint: expect.stringContaining('local disk'),
    });
    expect(existsSync(join(directory, 'parley.db'))).toBe(false);
  },
);

it.each(['fuse', '9p', 'overlay', 'unknown (0x1)'])('accepts a data directory on %s', async (type) => {
  const options = { ...storeOptions(temporaryDirectory()), filesystemType: () => type };
  expect((await openTestStore(options)).created).toBe(true);
});

it('refuses the database of another program and leaves every byte of it', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'parley.db');
  lookInto(path, (database) => database.exec('CREATE TABLE theirs (value); INSERT INTO theirs VALUES (1)'));
  const before = readFileSync(path);
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_UNSAFE',
    message: expect.stringContaining('another program'),
  });
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(directory)).toEqual(['parley.db']);
});

it('makes a store of an empty file', async () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'parley.db'), '');
  expect((await openTestStore(storeOptions(directory))).created).toBe(true);
});

it('enforces references between tables', async () => {
  const directory = temporaryDirectory();
  await (await openSqliteStore(storeOptions(directory))).store.close();
  const orphan = `INSERT INTO api_keys (project, key_id, hash, name, created_at) VALUES (77, 'key', zeroblob(32), 'name', 0)`;
  lookInto(join(directory, 'parley.db'), (database) => {
    database.pragma('foreign_keys = ON');
    expect(() => database.exec(orphan)).toThrow('FOREIGN KEY constraint failed');
  });
});

it('refuses a store with two names, because writes through one name are lost through the other', async () => {
  const [directory, other] = [temporaryDirectory(), temporaryDirectory()];
  const { store } = await openSqliteStore(storeOptions(directory));
  await store.close();
  linkSync(join(directory, 'parley.db'), join(other, 'parley.db'));
  for (const place of [directory, other]) {
    await expect(openSqliteStore(storeOptions(place))).rejects.toMatchObject({
      code: 'STORE_UNSAFE',
      message: expect.stringContaining('2 names'),
    });
  }
});

/** Makes no process, because no test here reads long. */
const processes: ProcessesOf = (place) => new StoreProcesses(new URL('file:///none'), place);

it.each([
  ['deleted', 'parley.db'],
  ['replaced by another file', 'parley.db'],
  ['deleted', 'parley.db-wal'],
  ['replaced by another file', 'parley.db-wal'],
])('writes nothing after a file was %s: %s', async (how, file) => {
  for (const isServed of [false, true]) {
    const directory = temporaryDirectory();
    const options = storeOptions(directory);
    const { store } = await openTestStore(isServed ? { ...options, processes } : options);
    const project = await newProject(store);
    const begun = await store.beginTurn(project, turnStart());
    if (begun.kind !== 'begun') throw new Error('The turn is not begun.');
    renameSync(join(directory, file), join(directory, 'moved'));
    await delay(checkEveryMs + 20);
    if (how !== 'deleted') writeFileSync(join(directory, file), '');
    const refused = {
      code: 'STORE_UNSAFE',
      message: expect.stringMatching(new RegExp(`${file} of the store was ${how} while it was open`)),
    };
    for (const write of [
      () => store.beginTurn(project, turnStart()),
      () => store.endTurn(project, begun.turn, turnReply()),
      () => newSession(store, project),
      () => store.ping(),
    ])
      await expect(write()).rejects.toMatchObject(refused);
  }
});

it('writes no row of a copy to a file that was deleted', async () => {
  const directory = temporaryDirectory();
  const rows = await openSqliteRows(storeOptions(directory));
  await rows.setCopyNote('first');
  rmSync(join(directory, 'parley.db'));
  await delay(checkEveryMs + 20);
  await expect(rows.setCopyNote('second')).rejects.toMatchObject({ code: 'STORE_UNSAFE' });
  await rows.close();
});

it('does not remove the log of others when it is closed after its own log was deleted', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  await store.beginTurn(project, turnStart());
  for (const ending of ['-wal', '-shm']) rmSync(join(directory, `parley.db${ending}`));
  const log = join(directory, 'parley.db-wal');
  writeFileSync(log, '');
  await store.close();
  expect(existsSync(log)).toBe(true);
});
