// The first use on a new machine, by one process or several at once: a store, a project and one key are created, and one line says so.
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KeyRecord } from '../../src/service/administration.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { runs } from '../support/runs.ts';
import { storedKey } from '../support/stored.ts';

let place: PlaceInProcess;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

const announcement = /^Created a store in .*, with a project "default" and a key \(profile local\)\.\n$/;

test('the first use is announced in one line on stderr, once', async () => {
  const first = await place.binary(['chat', '-m', 'echo', 'hi']);
  expect(first).toMatchObject({ status: 0, out: 'hi\n', err: expect.stringMatching(announcement) });
  expect(first.err).toContain(place.dataDirectory);
  expect(await place.parley(['chat', '-m', 'echo', 'hi'])).toMatchObject({ status: 0, out: 'hi\n', err: '' });
});

test('the first reply of eliza at a terminal is followed by a note about eliza, and no other reply is', async () => {
  const note = 'eliza is not a language model. To set one up: parley setup';
  const { out } = await place.terminal('parley chat Hello; parley chat -c Hello; parley chat Hello');
  expect(out.split(note)).toHaveLength(2);
  expect(out.indexOf(note)).toBeLessThan(out.indexOf('continue with:', out.indexOf('continue with:') + 1));
  const other = new PlaceInProcess();
  expect((await other.parley(['chat', '-n', 'Hello'])).err).not.toContain(note);
  expect((await other.terminal('parley chat Hello')).out).not.toContain(note);
  other.remove();
});

test('the first use is not announced with --quiet', async () => {
  expect(await place.parley(['chat', '-m', 'echo', 'hi', '--quiet'])).toMatchObject({ status: 0, err: '' });
});

test('files are private from the start, under any umask', async () => {
  for (const umask of ['000', '022']) {
    const own = new PlaceInProcess();
    const { status, err } = await own.shell(
      `umask ${umask}; parley chat -m echo hi && parley profiles use local`,
    );
    expect({ umask, status, err }).toMatchObject({ status: 0 });
    for (const directory of [own.configDirectory, own.dataDirectory]) {
      const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
      expect(statSync(directory).mode & 0o777).toBe(0o700);
      for (const entry of entries) {
        const path = join(entry.parentPath, entry.name);
        expect([path, statSync(path).mode & 0o777]).toEqual([path, entry.isDirectory() ? 0o700 : 0o600]);
      }
    }
    own.remove();
  }
});

const many = runs(5, 8);

test(`${many} at once all succeed, and create one key`, async () => {
  const ran = await Promise.all(
    Array.from({ length: many }, (_, index) => place.binary(['chat', '-m', 'echo', `${index}`])),
  );
  expect(ran.map(({ status, out }) => [status, out])).toEqual(ran.map((_, index) => [0, `${index}\n`]));
  // The process whose key was stored announces the first use. It may have found the store of another process, whose key came second.
  const one = /^Created a (store|key for the store) in .*project "default".*\(profile local\)\.\n$/;
  expect(ran.filter(({ err }) => err !== '').map(({ err }) => err)).toEqual([expect.stringMatching(one)]);
  const keys = await place.answer<readonly KeyRecord[]>(['keys', 'list']);
  expect(keys).toMatchObject([{ revoked_at: null }]);
  expect(await place.answer(['verify'])).toMatchObject({ key_id: keys[0]?.key_id });
  expect((await place.output(['sessions', 'list', '--ids'])).trimEnd().split('\n').length).toBe(many);
});

test('a second store gets a key of its own, and the first store keeps its key', async () => {
  await place.output(['models']);
  const key = storedKey(place);
  const env = { PARLEY_DATA_DIR: join(place.path, 'second') };
  expect((await place.parley(['models'], { env })).err).toContain('second');
  await place.output(['verify'], { env });
  await place.output(['verify']);
  expect(storedKey(place)).toBe(key);
  expect(Object.keys(JSON.parse(readFileSync(place.configFile, 'utf8')).profiles.local.keys).length).toBe(2);
});

test('a key from PARLEY_API_KEY creates no project and no profile', async () => {
  const { status } = await place.parley(['models'], { env: { PARLEY_API_KEY: 'pk_x' } });
  expect(status).toBe(4);
  expect(await place.parley(['models'])).toMatchObject({
    status: 0,
    err: expect.stringMatching(/^Created a store/),
  });
});

test("a data directory of the user's own keeps its mode, and the store in it is private", async () => {
  mkdirSync(place.dataDirectory, { mode: 0o755 });
  await place.output(['models']);
  expect(statSync(place.dataDirectory).mode & 0o777).toBe(0o755);
  expect(statSync(place.storeFile).mode & 0o777).toBe(0o600);
});
