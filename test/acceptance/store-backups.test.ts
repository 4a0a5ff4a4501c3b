// Backups of whole stores: taken while the store is used, verified, and restored to a new place, over the old store, or into another database.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { olderStore } from '../support/older-store.ts';
import { endOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { lookInto } from '../support/raw-database.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';
import { lockStore } from '../support/store-lock.ts';
import { fillStore } from '../support/stored-sessions.ts';

let database: PostgresServer;
let place: PlaceInProcess;
beforeAll(async () => {
  database = await startPostgres([]);
  place = await placeWithChat();
}, 60_000);
afterAll(async () => {
  place.remove();
  await database.stop();
});

const newPlace = () => removeAfterTest(new PlaceInProcess());

async function placeWithChat(one = new PlaceInProcess()): Promise<PlaceInProcess> {
  await one.output(['chat', 'Größe 🙂']);
  const deleted = await one.newSession();
  await one.output(['sessions', 'delete', deleted]);
  return one;
}

const exported = (of: PlaceInProcess, ...more: readonly string[]) =>
  of.output(['sessions', 'export', '--all', '--format', 'json', ...more]);

/** The lines of a backup between the first and the last, without times. */
const rowsOf = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(1, -2)
    .map((line) => line.replace(/"age_ms":[\d.]+/, ''));

const keyOf = (of: PlaceInProcess): string =>
  JSON.parse(readFileSync(of.configFile, 'utf8')).profiles.local.keys[of.dataDirectory];

test('a backup with keys is restored as the same store elsewhere, in either database', async () => {
  const file = join(place.path, 'one.backup');
  const made = await place.answer<{ sha256: string; keys: number }>(['store', 'backup', file, '--with-keys']);
  expect(made.keys).toBe(1);
  expect(await place.answer(['store', 'verify', file])).toEqual(made);
  const other = newPlace();
  const env = { PARLEY_API_KEY: keyOf(place) };
  const restored = await other.parley(['store', 'restore', file]);
  expect(restored.out).toMatch(/^Restored 2 sessions with 2 messages to .*, as they were at \d{4}-/);
  expect(await other.output(['sessions', 'export', '--all', '--format', 'json'], { env })).toBe(
    await exported(place),
  );
  const store = `postgres://parley@127.0.0.1:${database.port}/postgres?connections=2&schema=restored`;
  await other.output(['store', 'restore', file, '--store', store]);
  const back = join(place.path, 'back.backup');
  await other.output(['store', 'backup', back, '--with-keys', '--store', store]);
  expect(rowsOf(back)).toEqual(rowsOf(file));
  const refused = await other.parley(['store', 'restore', file, '--replace', '--store', store]);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain('a store in PostgreSQL is never replaced');
});

test('the copy of a whole store is refused as such, also from stdin', async () => {
  const other = newPlace();
  await other.output(['chat', 'Hello']);
  const [file, bytes] = [other.storeFile, readFileSync(other.storeFile)];
  for (const [words, stdin, name] of [
    [['restore', file, '--replace'], undefined, file],
    [['restore', '-', '--replace'], bytes, 'Standard input'],
    [['verify', file], undefined, file],
  ] as const) {
    const copy = join(other.path, 'parley.db.backup-v1');
    if (name === file) writeFileSync(copy, bytes);
    const args = words.map((word) => (word === file ? copy : word));
    const refused = await other.parley(['store', ...args], { ...(stdin && { stdin }) });
    expectFailure(refused, { status: 2, code: 'USAGE' });
    const shown = name === file ? copy : name;
    expect(refused.err).toContain(`${shown} is a SQLite store, not a backup of parley store backup. (USAGE)`);
    expect(refused.err).toContain('rename this file to parley.db');
  }
  expect(await other.output(['sessions', 'list', '--ids'])).not.toBe('');
});

test('a backup without keys contains the modes of its store, and the restored store gets a key at the first use', async () => {
  const one = newPlace();
  await placeWithChat(one);
  await one.output(['modes', 'add', 'm', '--base-url', 'http://127.0.0.1:1/v1', '--model', 'x', '--default']);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  expect(readFileSync(file, 'utf8')).not.toContain('"kind":"key"');
  const two = newPlace();
  const { err } = await two.parley(['store', 'restore', file]);
  expect(err).toMatch(/It has no keys\. .*: parley keys create --project NAME\n/);
  expect(await exported(two)).toBe(await exported(one));
  expect(await two.answer(['modes', 'list'])).toMatchObject([
    { name: 'm', default: true },
    { name: 'eliza' },
    { name: 'echo' },
  ]);
});

test('a store with sessions is replaced only on request, and is kept next to it; its keys stay in use', async () => {
  const one = newPlace();
  await placeWithChat(one);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  const before = await exported(one);
  await one.output(['keys', 'create', '--project', 'default', '--name', 'revoked']);
  const [, created] = await one.answer<readonly { key_id: string }[]>(['keys', 'list']);
  await one.output(['store', 'backup', join(one.path, 'with'), '--with-keys']);
  await one.output(['keys', 'revoke', created?.key_id ?? '']);
  await one.output(['chat', 'later']);
  const later = await exported(one);
  const refused = await one.parley(['store', 'restore', file]);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expect(refused.err).toContain('--replace');
  expect(await exported(one)).toBe(later);
  const { kept } = await one.answer<{ kept: string }>(['store', 'restore', file, '--replace']);
  expect(await exported(one)).toBe(before);
  lookInto(kept, (old) =>
    expect(old.prepare(`SELECT count(*) AS n FROM messages WHERE content = 'later'`).get()).toEqual({
      n: 1,
    }),
  );
  // A key that was revoked since the backup was taken stays revoked.
  await one.output(['store', 'restore', join(one.path, 'with'), '--replace']);
  const keys = await one.answer<readonly { revoked_at: string | null }[]>(['keys', 'list']);
  expect(keys.map(({ revoked_at }) => revoked_at !== null)).toEqual([false, true]);
});

test('a damaged store and a lost one are restored with the commands that the errors print', async () => {
  const one = newPlace();
  await placeWithChat(one);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  const before = await exported(one);
  for (const end of ['-wal', '-shm']) rmSync(`${one.storeFile}${end}`, { force: true });
  writeFileSync(one.storeFile, 'damaged');
  const damaged = await one.parley(['sessions', 'list']);
  expectFailure(damaged, { status: 7, code: 'STORE_DAMAGED' });
  rmSync(one.storeFile);
  const lost = await one.parley(['sessions', 'list']);
  expectFailure(lost, { status: 7, code: 'STORE_MISSING' });
  for (const { err } of [damaged, lost]) expect(err).toMatch(/: parley store restore FILE$/m);
  const { err } = await one.parley(['store', 'restore', file]);
  const [, command = ''] =
    /^It has no keys, and the key in use is not valid for it\. To create another: parley (.*)$/m.exec(err) ??
    [];
  await one.output(command.split(' '));
  expect(await exported(one)).toBe(before);
});

test('a store of an older schema is replaced as it is, and its keys stay in use', async () => {
  const file = join(place.path, 'over-older');
  await place.output(['store', 'backup', file]);
  for (const version of [2, 12]) {
    const one = newPlace();
    const { path, session } = await olderStore(one.dataDirectory, version);
    lookInto(path, (store) =>
      store.exec(`
        INSERT INTO api_keys (key_id, name, hash, project, created_at) SELECT 'key_old', 'old', zeroblob(32), id, 0 FROM projects;
        UPDATE projects SET name = 'default'`),
    );
    const { kept } = await one.answer<{ kept: string }>(['store', 'restore', file, '--replace']);
    expect(await exported(one)).toBe(await exported(place));
    const keys = await one.answer<readonly { key_id: string }[]>(['keys', 'list']);
    expect(keys).toContainEqual(
      expect.objectContaining({ key_id: 'key_old', scope: null, revoked_at: null }),
    );
    lookInto(kept, (old) => {
      expect(old.pragma('user_version', { simple: true })).toBe(version);
      expect(old.prepare('SELECT session_id FROM sessions').pluck().all()).toEqual([session]);
    });
  }
});

test('a store in use, and one of a newer version, are not replaced', async () => {
  const one = newPlace();
  await placeWithChat(one);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  const server = await servePlace(one);
  const busy = await one.parley(['--timeout', '0.2', 'store', 'restore', file, '--replace']);
  expectFailure(busy, { status: 7, code: 'STORE_BUSY' });
  await server.end('SIGTERM');
  expect(readdirSync(one.dataDirectory).filter((name) => name.includes('restoring'))).toEqual([]);
  lookInto(one.storeFile, (store) => store.pragma('user_version = 9999'));
  const newer = await one.parley(['store', 'restore', file, '--replace']);
  expectFailure(newer, { status: 7, code: 'STORE_NEWER' });
  lookInto(one.storeFile, (database) => expect(database.pragma('user_version', { simple: true })).toBe(9999));
});

test('--timeout shortens the wait for a locked store of a restoration, a backup and a copy', async () => {
  const one = newPlace();
  await placeWithChat(one);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  // Without the option, each would wait for these three seconds, and then succeed.
  const { release } = await lockStore(one.storeFile, 3000);
  for (const words of [
    ['restore', file, '--replace'],
    ['backup', join(one.path, 'c')],
    ['copy', '--from', one.dataDirectory, '--to', join(one.path, 'copy')],
  ])
    expectFailure(await one.parley(['--timeout', '0.2', 'store', ...words]), {
      status: 7,
      code: 'STORE_BUSY',
    });
  await release();
});

test('a damaged backup changes nothing, from a file or from standard input', async () => {
  const one = newPlace();
  await placeWithChat(one);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  const before = await exported(one);
  const bytes = readFileSync(file);
  const at = bytes.indexOf('Größe');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  const damaged = join(one.path, 'damaged');
  writeFileSync(damaged, bytes);
  for (const [word, stdin] of [
    [damaged, undefined],
    ['-', bytes],
  ] as const) {
    const refused = await one.parley(['store', 'restore', word, '--replace'], stdin ? { stdin } : {});
    expectFailure(refused, { status: 7, code: 'STORE_DAMAGED' });
    expect(await exported(one)).toBe(before);
  }
  const stopped = await one.parley(['store', 'verify', damaged]);
  expect(stopped.err).toContain('its SHA-256 differs');
  expect(readdirSync(one.dataDirectory).filter((name) => name.includes('backup'))).toEqual([]);
});

test('a backup can be piped, and does not replace an existing file', async () => {
  const { out, status } = await place.shell('parley store backup - | parley store verify -');
  expect(status).toBe(0);
  expect(out).toMatch(/^The backup is intact: 1 project, 2 sessions, 2 messages, no keys\.$/m);
  const there = join(place.path, 'there');
  writeFileSync(there, 'mine');
  expectFailure(await place.parley(['store', 'backup', there]), { status: 2, code: 'USAGE' });
  expect(readFileSync(there, 'utf8')).toBe('mine');
  const none = newPlace();
  expectFailure(await none.parley(['store', 'backup', there, '--force']), {
    status: 7,
    code: 'STORE_MISSING',
  });
  expect(readFileSync(there, 'utf8')).toBe('mine');
});

test('a killed restoration leaves the old store, and the next one succeeds', async () => {
  const one = newPlace();
  await placeWithChat(one);
  fillStore(one.storeFile, 6_000);
  const file = join(one.path, 'b');
  await one.output(['store', 'backup', file]);
  const before = await one.rows<{ n: number }>('SELECT count(*) AS n FROM sessions');
  const child = one.spawn(['store', 'restore', file, '--replace']);
  const ended = endOf(child);
  const unfinished = () => readdirSync(one.dataDirectory).includes('parley.db.backup-restoring-wal');
  while (!unfinished()) {
    expect(child.exitCode).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  child.kill('SIGKILL');
  await ended;
  expect(one.rows('SELECT count(*) AS n FROM sessions')).toEqual(before);
  expect(await one.answer(['store', 'restore', file, '--replace'])).toMatchObject({ sessions: 6_002 });
  expect(one.rows('SELECT count(*) AS n FROM sessions')).toEqual(before);
  expect(readdirSync(one.dataDirectory).filter((name) => name.includes('restoring'))).toEqual([]);
});

test('a backup and an export never replace the store', async () => {
  const one = newPlace();
  await one.output(['chat', '-n', '-m', 'echo', 'hi']);
  const store = one.storeFile;
  for (const words of [
    ['store', 'backup', store],
    ['sessions', 'export', '--all', '-o', store],
  ]) {
    const refused = await one.parley([...words, '--force']);
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toContain(`${store} is a file of a store of Parley.`);
  }
  expect(await one.output(['sessions', 'list'])).toContain('\thi\n');
});
