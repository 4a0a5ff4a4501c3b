// What a process may be started in: no home, a working directory that is gone, a stdout that takes nothing.
import { spawnSync } from 'node:child_process';
import { chownSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ParleyPlace } from '../support/parley-place.ts';
import { storedMessages } from '../support/stored-turns.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
let place: ParleyPlace;
beforeEach(() => {
  place = new ParleyPlace(repository);
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
    'parley %s fails, says so once, and shows no stack',
    async (_name, words) => {
      const full = openSync('/dev/full', 'w');
      const { status, stderr } = await place.run([...words, '--quiet'], { stdout: full });
      closeSync(full);
      const told = stderr.split('\n').filter((line) => !line.startsWith('Made a store'));
      expect(told).toEqual([
        expect.stringMatching(/^parley: The output could not be written: .*ENOSPC.*\(INTERNAL_ERROR\)$/),
        expect.stringMatching(/^What was written is not complete\./),
        '',
      ]);
      expect(status).toBe(1);
    },
  );
});

test.each(['', 'relative'])(
  'HOME="%s" is refused, and nothing is read or made where it runs',
  async (home) => {
    const cwd = join(place.root, 'somewhere');
    mkdirSync(cwd);
    const env = { HOME: home, PARLEY_CONFIG_DIR: undefined, PARLEY_DATA_DIR: undefined };
    const { status, stderr } = await place.run(['chat', '-n', 'hi'], { cwd, env });
    expect(stderr).toBe(
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
// Only root may become a user whom the system does not list, and that user has to reach the program.
const mayTry = process.getuid?.() === 0 && reads(join(repository, 'bin', 'parley.js'));
test.skipIf(!mayTry)('a user whom the system does not list chats, with both directories named', () => {
  for (const directory of [place.config, place.data]) mkdirSync(directory);
  for (const path of [place.root, place.config, place.data]) chownSync(path, uid, uid);
  const env = { ...place.env, HOME: undefined };
  const words = [place.program, 'chat', '-n', '-m', 'echo', 'hi'];
  const options = { uid, gid: uid, cwd: '/', env, encoding: 'utf8' } as const;
  expect(spawnSync(process.execPath, words, options)).toMatchObject({ status: 0, stdout: 'hi\n' });
});

test('a working directory that is gone is no hindrance', () => {
  const cwd = join(place.root, 'gone');
  mkdirSync(cwd);
  const script = 'rmdir "$PWD" && exec "$0" "$1" chat -n -m echo hi';
  const words = ['-c', script, process.execPath, place.program];
  const { status, stdout } = spawnSync('sh', words, { cwd, env: place.env, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'hi\n' });
});

test('a chat that cannot be noted for -c is kept and answered all the same, and says how to go on', async () => {
  const session = await place.newSession();
  rmSync(join(place.data, 'current'), { recursive: true });
  writeFileSync(join(place.data, 'current'), '');
  const { status, stdout, stderr } = await place.run(['chat', '-n', '-m', 'echo', '-s', session, 'hi']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'hi\n' });
  expect(stderr).toMatch(/^parley: .*current cannot be written \(E[A-Z]+\)\. \(CONFIG\)\n/);
  expect(stderr).toContain(`Go on with -s ${session};`);
  expect(storedMessages(place)[1]).toMatchObject({ content: 'hi', finish_reason: 'stop' });
});
