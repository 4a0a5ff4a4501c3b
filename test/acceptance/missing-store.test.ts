// A data directory that is missing, as on a disk that is not mounted, and the key of its store meanwhile; and a key that cannot be stored.
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KeyRecord } from '../../src/service/administration.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { storedKey } from '../support/stored.ts';

let place: PlaceInProcess;
let away: string;
beforeEach(() => {
  place = new PlaceInProcess();
  away = join(place.path, 'away');
});
afterEach(() => place.remove());

const begin = ['keys', 'create', '--project', 'default', '--use'];
const list = () => place.output(['sessions', 'list', '--ids']);

describe('a store whose directory is missing', () => {
  test.each([
    ['is not there', () => {}, 'there is no such directory'],
    ['is empty', () => mkdirSync(place.dataDirectory), 'the directory is empty'],
    [
      'holds an empty file of its name',
      () => {
        mkdirSync(place.dataDirectory);
        writeFileSync(place.storeFile, '');
      },
      'there is no store in it',
    ],
  ])(
    'is reported by name if it %s, nothing is created, and all is there when it is back',
    async (_fact, leave, what) => {
      const session = await place.newSession();
      const config = readFileSync(place.configFile, 'utf8');
      renameSync(place.dataDirectory, away);
      leave();
      const outcome = await place.parley(['chat', '-n', '-m', 'echo', 'hi']);
      expectFailure(outcome, { status: 7, code: 'STORE_MISSING' });
      expect(outcome.err).toContain(`is not in ${place.dataDirectory}, where it was: ${what}.`);
      expect(outcome.err).toContain(`parley ${begin.join(' ')}`);
      expect(readFileSync(place.configFile, 'utf8')).toBe(config);
      rmSync(place.dataDirectory, { recursive: true, force: true });
      renameSync(away, place.dataDirectory);
      expect(await list()).toBe(`${session}\n`);
    },
  );

  test('is reported behind a link to its former place', async () => {
    await place.newSession();
    renameSync(place.dataDirectory, away);
    symlinkSync(away, place.dataDirectory);
    const session = await place.newSession();
    renameSync(away, join(place.path, 'unmounted'));
    const outcome = await place.parley(['chat', '-n', '-m', 'echo', 'hi']);
    expectFailure(outcome, { status: 7, code: 'STORE_MISSING' });
    expect(outcome.err).toContain(`is not in ${away}, where it was: there is no such directory.`);
    renameSync(join(place.path, 'unmounted'), away);
    expect(await list()).toContain(session);
  });

  test('is reported by a server, with PARLEY_API_KEY and by the doctor, too', async () => {
    await place.newSession();
    renameSync(place.dataDirectory, away);
    const [served, keyed, doctor] = await Promise.all([
      place.parley(['serve', '--port', '0']),
      place.parley(['sessions', 'list'], { env: { PARLEY_API_KEY: storedKey(place) } }),
      place.parley(['doctor']),
    ]);
    for (const outcome of [served, keyed]) expectFailure(outcome, { status: 7, code: 'STORE_MISSING' });
    expect(doctor).toMatchObject({ status: 7, out: expect.stringContaining(begin.join(' ')) });
    expect(readdirSync(place.path)).not.toContain('data');
  });

  test('is replaced by a new one only on request, and each store is used with its own key when it is there', async () => {
    const session = await place.newSession();
    const key = storedKey(place);
    renameSync(place.dataDirectory, away);
    expect((await place.parley(begin)).err).toContain('Created a store');
    const other = await place.newSession();
    const second = join(place.path, 'second');
    renameSync(place.dataDirectory, second);
    renameSync(away, place.dataDirectory);
    expect(await list()).toBe(`${session}\n`);
    expect(storedKey(place)).toBe(key);
    renameSync(place.dataDirectory, away);
    renameSync(second, place.dataDirectory);
    expect(await list()).toBe(`${other}\n`);
  });

  test('keeps its key while another store in its place gets a key', async () => {
    const session = await place.newSession();
    const strange = new PlaceInProcess();
    await strange.newSession();
    renameSync(place.dataDirectory, away);
    cpSync(strange.dataDirectory, place.dataDirectory, { recursive: true });
    strange.remove();
    expectFailure(await place.parley(['sessions', 'list']), { status: 4, code: 'INVALID_API_KEY' });
    await place.output(begin);
    rmSync(place.dataDirectory, { recursive: true });
    renameSync(away, place.dataDirectory);
    expect(await list()).toBe(`${session}\n`);
  });
});

test('a revoked key is refused, whatever keys its store had before', async () => {
  await place.newSession();
  await place.output(begin);
  const { key_id } = await place.answer<KeyRecord>(['verify']);
  await place.output(['keys', 'revoke', key_id]);
  expectFailure(await place.parley(['sessions', 'list']), { status: 4, code: 'INVALID_API_KEY' });
});

/** The configuration is renamed, but the call reports an error, as on a broken disk. */
async function withFailingRename(words: readonly string[]) {
  const preload = join(place.path, 'failing.cjs');
  writeFileSync(
    preload,
    `const fs = require('node:fs'); const { renameSync } = fs;
     fs.renameSync = (from, to) => {
       renameSync(from, to);
       if (String(to).endsWith('config.json'))
         throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO', syscall: 'rename' });
     };`,
  );
  return place.parley(words, { env: { NODE_OPTIONS: `--require ${preload}` } });
}

test.each([['models'], begin])(
  'an I/O error after the key was stored does not revoke it (parley %s)',
  async (...words) => {
    if (words.length > 1) await place.output(['models']);
    expectFailure(await withFailingRename(words), { status: 2, code: 'CONFIG' });
    expect(await place.parley(['verify'])).toMatchObject({ status: 0 });
  },
);
