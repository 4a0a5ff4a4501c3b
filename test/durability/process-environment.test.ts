// Unusual environments of a process: no home, a missing working directory, a stdout that accepts nothing.
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Place, program } from '../support/parley.ts';
import { storedMessages } from '../support/stored-turns.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

describe('on a full device', () => {
  const commands = [
    ['--version'],
    ['--help'],
    ['verify'],
    ['verify', '--json'],
    ['models', '--json'],
    ['chat', '-n', '--mode', 'echo', 'hi'],
    ['chat', '-n', '--mode', 'echo', '--json', 'hi'],
    ['chat', '-n', '--mode', 'echo', '--json-stream', 'hi'],
  ];
  test.each(commands.map((words) => [words.join(' '), words] as const))(
    'parley %s fails, reports it once, and shows no stack',
    async (_name, words) => {
      const full = openSync('/dev/full', 'w');
      const { status, err } = await place.parley([...words, '--quiet'], { stdout: full });
      closeSync(full);
      const lines = err.split('\n').filter((line) => !line.startsWith('Created a store'));
      expect(lines).toEqual([
        expect.stringMatching(/^parley: The output could not be written: .*ENOSPC.*\(STORAGE_FULL\)$/),
        expect.stringMatching(/^The output is incomplete\./),
        '',
      ]);
      expect(status).toBe(7);
    },
  );
});

test.each(['--json', '--stream', '--no-stream'])(
  'a reply that a full device does not take is kept, and the session is named (%s)',
  async (form) => {
    const full = openSync('/dev/full', 'w');
    const words = ['chat', '-n', '--mode', 'echo', ...(form === '--stream' ? [] : [form]), 'hi'];
    const { err } = await place.parley(words, { stdout: full });
    closeSync(full);
    const [, session = ''] = /^Stopped\. The reply so far is kept in session (\S+)\.$/m.exec(err) ?? [];
    expect(await place.output(['sessions', 'get', session])).toContain('message_count: 2\n');
    expect(storedMessages(place)[1]).toMatchObject({ content: 'hi' });
  },
);

test.each(['', 'relative'])(
  'HOME="%s" is refused, and nothing is read or made in the working directory',
  async (home) => {
    const cwd = join(place.path, 'somewhere');
    mkdirSync(cwd);
    const env = { HOME: home, PARLEY_CONFIG_DIR: undefined, PARLEY_DATA_DIR: undefined };
    const { status, err } = await place.parley(['chat', '-n', 'hi'], { cwd, env });
    expect(err).toBe(
      'parley: There is no home directory to keep the configuration and the data in. (CONFIG)\n' +
        'Set HOME to an absolute path, or both PARLEY_CONFIG_DIR and PARLEY_DATA_DIR.\n',
    );
    expect(status).toBe(2);
    expect(readdirSync(cwd)).toEqual([]);
  },
);

test('with both directories named, no home is needed', async () => {
  expect(await place.output(['chat', '-n', '--mode', 'echo', 'hi'], { env: { HOME: '' } })).toBe('hi\n');
});

const uid = 54321;
const reads = (path: string) => spawnSync('test', ['-r', path], { uid, cwd: '/' }).status === 0;
// Only root may become a user whom the system does not list, and that user must be able to read the program.
const mayTry = process.getuid?.() === 0 && reads(program);
test.skipIf(!mayTry)('a user whom the system does not list chats, with both directories named', () => {
  for (const directory of [place.configDirectory, place.dataDirectory]) mkdirSync(directory);
  for (const path of [place.path, place.configDirectory, place.dataDirectory]) chownSync(path, uid, uid);
  const env = { ...place.env, HOME: undefined };
  const words = [program, 'chat', '-n', '-m', 'echo', 'hi'];
  const options = { uid, gid: uid, cwd: '/', env, encoding: 'utf8' } as const;
  expect(spawnSync(process.execPath, words, options)).toMatchObject({ status: 0, stdout: 'hi\n' });
});

test.skipIf(!mayTry)('a umask that would take its own files from the user does not', () => {
  for (const directory of [place.configDirectory, place.dataDirectory]) mkdirSync(directory);
  for (const path of [place.path, place.configDirectory, place.dataDirectory]) chownSync(path, uid, uid);
  const backup = join(place.path, 'all.backup');
  const commands = [
    'chat -n -m echo hi',
    'sessions list',
    `store backup ${backup}`,
    `store verify ${backup}`,
  ];
  const parley = (words: string) => `"${process.execPath}" "${program}" ${words}`;
  const script = `umask 777 && ${commands.map(parley).join(' && ')}`;
  const options = { uid, gid: uid, cwd: '/', env: place.env, encoding: 'utf8' } as const;
  expect(spawnSync('sh', ['-c', script], options)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^hi\nses_/),
  });
  expect(statSync(backup).mode & 0o777).toBe(0o600);
});

test('a command works in a working directory that was removed', () => {
  const cwd = join(place.path, 'gone');
  mkdirSync(cwd);
  const script = 'rmdir "$PWD" && exec "$0" "$1" chat -n -m echo hi';
  const words = ['-c', script, process.execPath, program];
  const { status, stdout } = spawnSync('sh', words, { cwd, env: place.env, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'hi\n' });
});

test('a chat that cannot be recorded for -c is stored and answered, and says how to continue', async () => {
  const session = await place.newSession();
  rmSync(join(place.dataDirectory, 'current'), { recursive: true });
  writeFileSync(join(place.dataDirectory, 'current'), '');
  const { status, out, err } = await place.parley(['chat', '-n', '-m', 'echo', '-s', session, 'hi']);
  expect({ status, out }).toEqual({ status: 0, out: 'hi\n' });
  expect(err).toMatch(/^parley: .*current cannot be written \(E[A-Z]+\)\. \(CONFIG\)\n/);
  expect(err).toContain(`To continue this session, use -s ${session}: `);
  expect(storedMessages(place)[1]).toMatchObject({ content: 'hi', finish_reason: 'stop' });
});

test('a directory whose name is not UTF-8 is refused by name, and no other is made in its place', async () => {
  const { status, err } = await place.shell(
    `PARLEY_DATA_DIR=$'${place.path}/caf\\xe9/data' parley chat -n --mode echo hi`,
  );
  expect([status, err]).toEqual([
    2,
    expect.stringMatching(/caf.*\/data has a name that is not UTF-8\. \(CONFIG\)/),
  ]);
  expect(readdirSync(place.path).filter((name) => name.startsWith('caf'))).toEqual([]);
});
