// The session that `-c` continues: kept per terminal, origin and key, by many processes at once.
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CurrentSessions } from '../../src/config/current-session.ts';
import { bundleWorker, type WorkerBundle } from './worker-bundle.ts';

let worker: WorkerBundle;
beforeAll(async () => {
  worker = await bundleWorker();
});
afterAll(() => worker.remove());

const day = 24 * 60 * 60 * 1000;
const here = { origin: 'https://one.example', key: 'pk_1', terminal: 'tty 1' };
const nowhere = { ...here, terminal: null };
const of = (sessionId: string, mode: string | null = null) => ({ sessionId, mode });

test('there is none before one is stored, and a look-up creates no file', async () => {
  const directory = join(worker.directory(), 'data');
  expect(new CurrentSessions(directory).read(here)).toBeNull();
  expect(existsSync(directory)).toBe(false);
});

test('a terminal has its own, and without a terminal the last of the origin and key is used', async () => {
  const directory = worker.directory();
  const there = { ...here, terminal: 'tty 2' };
  new CurrentSessions(directory).write(here, of('ses_here'), Date.now());
  new CurrentSessions(directory).write(there, of('ses_there'), Date.now());
  expect(new CurrentSessions(directory).read(here)).toEqual(of('ses_here'));
  expect(new CurrentSessions(directory).read(there)).toEqual(of('ses_there'));
  expect(new CurrentSessions(directory).read(nowhere)).toEqual(of('ses_there'));
});

test('a file that is far too long is no session, and is replaced by the next one', () => {
  const directory = worker.directory();
  new CurrentSessions(directory).write(nowhere, of('ses_short'), Date.now());
  const [name = ''] = readdirSync(join(directory, 'current'));
  writeFileSync(join(directory, 'current', name), 'ses_long\n'.repeat(100_000));
  expect(() => new CurrentSessions(directory).read(nowhere)).toThrow(
    /cannot be read \(more than 65536 bytes: \d+\)/,
  );
  new CurrentSessions(directory).write(nowhere, of('ses_next'), Date.now());
  expect(new CurrentSessions(directory).read(nowhere)).toEqual(of('ses_next'));
});

test('a terminal without one does not use the last of another terminal', async () => {
  const directory = worker.directory();
  new CurrentSessions(directory).write(here, of('ses_here'), Date.now());
  new CurrentSessions(directory).write(nowhere, of('ses_nowhere'), Date.now());
  expect(new CurrentSessions(directory).read({ ...here, terminal: 'tty 2' })).toBeNull();
  expect(new CurrentSessions(directory).read(here)).toEqual(of('ses_here'));
  expect(new CurrentSessions(directory).read(nowhere)).toEqual(of('ses_nowhere'));
});

test('a session has the mode of its last turn, which may be any text of one line', () => {
  const directory = worker.directory();
  for (const mode of ['echo', 'x', 'gpt 4:o/ü', null]) {
    new CurrentSessions(directory).write(here, of('ses_1', mode), Date.now());
    expect(new CurrentSessions(directory).read(here)).toEqual(of('ses_1', mode));
  }
  new CurrentSessions(directory).write(here, of('ses_1', 'two\nlines'), Date.now());
  expect(new CurrentSessions(directory).read(here)).toEqual(of('ses_1'));
});

test('another origin or key has its own', async () => {
  const directory = worker.directory();
  new CurrentSessions(directory).write(here, of('ses_here'), Date.now());
  for (const other of [
    { ...here, key: 'pk_2' },
    { ...here, origin: 'embedded:/data' },
  ]) {
    expect(new CurrentSessions(directory).read(other)).toBeNull();
    expect(new CurrentSessions(directory).read({ ...other, terminal: null })).toBeNull();
  }
});

test('a file holds the session id and a newline, is private, and its name is no key', async () => {
  const directory = worker.directory();
  new CurrentSessions(directory).write(nowhere, of('ses_1'), Date.now());
  const [name = ''] = readdirSync(join(directory, 'current'));
  const path = join(directory, 'current', name);
  expect(readFileSync(path, 'utf8')).toBe('ses_1\n');
  expect(name).toMatch(/^[0-9a-f]{64}$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(directory, 'current')).mode & 0o777).toBe(0o700);
});

test.each(['', '\n', 'two words\n', '..\n', `${'x'.repeat(256)}\n`])(
  'the content %j is no session',
  async (content) => {
    const directory = worker.directory();
    new CurrentSessions(directory).write(nowhere, of('ses_1'), Date.now());
    const [name = ''] = readdirSync(join(directory, 'current'));
    writeFileSync(join(directory, 'current', name), content);
    expect(new CurrentSessions(directory).read(nowhere)).toBeNull();
  },
);

test('a directory that cannot be created is named with the remedy', async () => {
  const directory = worker.directory();
  writeFileSync(join(directory, 'file'), '');
  const write = () => new CurrentSessions(join(directory, 'file')).write(here, of('ses_1'), Date.now());
  expect(write).toThrow(
    expect.objectContaining({
      code: 'CONFIG',
      message: expect.stringContaining(join(directory, 'file')),
      hint: expect.stringContaining('PARLEY_DATA_DIR'),
    }),
  );
});

test('five processes with separate terminals never mix, and the last value is always complete', async () => {
  const directory = worker.directory();
  const terminals = Array.from({ length: 5 }, (_, index) => `t${index}`);
  const runs = await Promise.all(
    terminals.map((terminal) =>
      execa(process.execPath, [worker.path, 'converse', directory, terminal, '20']),
    ),
  );
  expect(runs.map((run) => run.stdout)).toEqual(terminals.map(() => '[]'));
  expect(readdirSync(join(directory, 'current'))).toHaveLength(6);
});

test('files unused for 90 days are removed when there are more than 200, and the others stay', async () => {
  const directory = worker.directory();
  const now = Date.now();
  new CurrentSessions(directory).write(here, of('ses_here'), now);
  const folder = join(directory, 'current');
  const age = (name: string, days: number) => {
    writeFileSync(join(folder, name), 'ses_old\n');
    utimesSync(join(folder, name), new Date(now - days * day), new Date(now - days * day));
  };
  for (let index = 0; index < 197; index += 1) age(`old-${index}`, 91);
  new CurrentSessions(directory).write({ ...here, terminal: 'tty 2' }, of('ses_2'), now);
  expect(readdirSync(folder)).toHaveLength(200);
  age('young', 89);
  new CurrentSessions(directory).write({ ...here, terminal: 'tty 3' }, of('ses_3'), now);
  expect(readdirSync(folder).filter((name) => name.startsWith('old-'))).toEqual([]);
  expect(readdirSync(folder)).toHaveLength(5);
  expect(new CurrentSessions(directory).read(here)).toEqual(of('ses_here'));
});
