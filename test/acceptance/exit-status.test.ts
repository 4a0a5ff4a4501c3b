// The exit statuses that scripts check: a refused key, a session that does not exist, some failures of several, the store, and signals.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedKey } from '../../src/service/administration.ts';
import type { Page, Session } from '../../src/service/session.ts';
import { expectFailure, expectJsonFailure, expectNoStackTrace } from '../support/failures.ts';
import { outcomeOf } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { RawDatabase } from '../support/raw-database.ts';
import { storedKey } from '../support/stored.ts';

const place = new PlaceInProcess();
let id = '';
beforeAll(async () => {
  id = (await place.output(['sessions', 'create', '--title', 'kept'])).trimEnd();
});
afterAll(() => place.remove());

const missing = 'ses_01m7yt10msccamajvw809w7d4v';

/** Each command that calls the service with the key. */
const called = (): readonly (readonly string[])[] => [
  ['verify'],
  ['models'],
  ['chat', '-n', '-m', 'echo', 'x'],
  ['chat', '-n', '-c', 'x'],
  ['sessions', 'create'],
  ['sessions', 'get', id],
  ['sessions', 'get', id, id],
  ['sessions', 'list'],
  ['sessions', 'messages', id],
  ['sessions', 'rename', id, 'y'],
  ['sessions', 'delete', id],
  ['sessions', 'delete', id, missing, '--yes'],
  ['sessions', 'restore', id],
  ['sessions', 'restore', id, missing],
];

const opened = (): readonly (readonly string[])[] => [
  ...called(),
  ['keys', 'list'],
  ['keys', 'create', '--project', 'p'],
  ['keys', 'revoke', 'key_x'],
];

describe('4', () => {
  test('no key for a URL given by hand', async () => {
    const args = ['--url', 'https://example.com', 'models'];
    expectFailure(await place.binary(args), { status: 4, code: 'NO_API_KEY' });
    expectJsonFailure(await place.parley([...args, '--json']), { status: 4, code: 'NO_API_KEY' });
  });

  test("a typo, another store's key, a word and a revoked key are refused alike", async () => {
    const elsewhere = new PlaceInProcess();
    await elsewhere.output(['models']);
    const revoked = await place.answer<CreatedKey>(['keys', 'create', '--project', 'p']);
    await place.output(['keys', 'revoke', revoked.key_id]);
    const own = storedKey(place);
    const keys = [
      `${own.slice(0, -1)}${own.endsWith('0') ? '1' : '0'}`,
      storedKey(elsewhere),
      'nope',
      revoked.key,
    ];
    elsewhere.remove();
    const bodies = await Promise.all(
      keys.map(async (key) => {
        const env = { PARLEY_API_KEY: key };
        const { message } = expectJsonFailure(await place.parley(['verify', '--json'], { env }), {
          status: 4,
          code: 'INVALID_API_KEY',
        });
        return message;
      }),
    );
    expect(new Set(bodies).size).toBe(1);
  });

  test('a refused key stops every command that calls the service, and changes nothing', async () => {
    const env = { PARLEY_API_KEY: 'pk_nope' };
    const expected = { status: 4, code: 'INVALID_API_KEY' };
    await Promise.all(
      called().map(async (args) =>
        expectJsonFailure(await place.parley([...args, '--json'], { env }), expected),
      ),
    );
    const { items } = await place.answer<Page<Session>>(['sessions', 'list']);
    expect(items.map(({ session_id, title }) => [session_id, title])).toEqual([[id, 'kept']]);
  });
});

test('5: one session that is not there', async () => {
  for (const args of [
    ['sessions', 'get', missing],
    ['sessions', 'messages', missing],
    ['sessions', 'rename', missing, 'x'],
    ['chat', '-n', '-s', missing, 'x'],
  ]) {
    expectFailure(await place.binary(args), { status: 5, code: 'SESSION_NOT_FOUND' });
    expectJsonFailure(await place.parley([...args, '--json']), { status: 5, code: 'SESSION_NOT_FOUND' });
  }
  for (const command of ['delete', 'restore']) {
    const { status, out, err } = await place.parley(['sessions', command, missing]);
    expect({ status, out }).toEqual({ status: 5, out: `not_found ${missing}\n` });
    expect(err).toMatch(/^parley: .*\(SESSION_NOT_FOUND\)\n./);
  }
});

test('3: some of several sessions are not there', async () => {
  const got = await place.binary(['sessions', 'get', missing, id, '--json']);
  expect(got.status).toBe(3);
  expect(
    got.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).success),
  ).toEqual([false, true]);
  const inWords = await place.parley(['sessions', 'get', missing, id]);
  expect(inWords.status).toBe(3);
  expect(inWords.out).toContain(`session_id: ${id}`);
  expect(inWords.err).toMatch(new RegExp(`${missing}[^]*\\(SESSION_NOT_FOUND\\)`));
  const restored = await place.parley(['sessions', 'restore', missing, id]);
  expect(restored).toMatchObject({ status: 3, out: `not_found ${missing}\nrestored ${id}\n` });
});

describe('7: the store', () => {
  const unusable = new PlaceInProcess();
  afterAll(() => unusable.remove());

  async function expectRefused(code: string, env = {}): Promise<void> {
    await Promise.all(
      opened().map(async (args) =>
        expectJsonFailure(await unusable.parley([...args, '--json'], { env }), { status: 7, code }),
      ),
    );
    const doctor = await unusable.binary(['doctor'], { env });
    expect(doctor).toMatchObject({
      status: 7,
      out: expect.stringMatching(new RegExp(`^FAIL .*\\(${code}\\)$`, 'm')),
    });
  }

  const hash = () => createHash('sha256').update(readFileSync(unusable.storeFile)).digest('hex');

  test('a data directory below a file', async () => {
    writeFileSync(join(unusable.path, 'file'), 'mine');
    await expectRefused('STORE_UNSAFE', { PARLEY_DATA_DIR: join(unusable.path, 'file', 'data') });
    expect(readFileSync(join(unusable.path, 'file'), 'utf8')).toBe('mine');
  });

  test('a damaged file, which is not changed', async () => {
    mkdirSync(unusable.dataDirectory, { recursive: true });
    writeFileSync(unusable.storeFile, 'no database '.repeat(1000));
    const before = hash();
    await expectRefused('STORE_DAMAGED');
    expect(hash()).toBe(before);
  });

  test('a file from a newer version, which is not changed', async () => {
    const newer = new PlaceInProcess();
    await newer.output(['models']);
    const database = new RawDatabase(newer.storeFile);
    database.pragma('user_version = 99');
    database.close();
    writeFileSync(unusable.storeFile, readFileSync(newer.storeFile));
    newer.remove();
    const before = hash();
    await expectRefused('STORE_NEWER');
    expect(hash()).toBe(before);
    expect(readdirSync(unusable.dataDirectory).filter((name) => name.includes('backup'))).toEqual([]);
  });
});

describe('a signal while stdin is awaited', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends with %i, and keeps nothing', async (signal, status) => {
    await Promise.all(
      [
        ['chat', '-m', 'echo'],
        ['sessions', 'delete', '-'],
        ['sessions', 'restore', '-', '--json'],
      ].map(async (args) => {
        const child = place.start(args);
        const outcome = outcomeOf(child);
        await expect.poll(() => takesSignals(child.pid)).toBe(true);
        child.kill(signal);
        const { out, err, ...rest } = await outcome;
        expect({ ...rest, out }).toMatchObject({ status, out: '' });
        expectNoStackTrace(err);
      }),
    );
    const { items } = await place.answer<Page<Session>>(['sessions', 'list']);
    expect(items.map(({ session_id }) => session_id)).toEqual([id]);
  });
});

/** True once SIGHUP is caught (proc_pid_status(5), SigCgt): Node itself does not, and the program takes it last of the three. */
function takesSignals(pid: number | undefined): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${caught}`) & 0b1n) !== 0n;
}
