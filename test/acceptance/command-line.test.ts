// The command line itself: help, version, the place of options, and commands that need neither store nor configuration.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { expectJsonFailure, expectNoStackTrace } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

const place = new PlaceInProcess();
beforeAll(() => place.output(['models']));
afterAll(() => place.remove());

test('global options work before the command, after it and in between', async () => {
  const all = await Promise.all([
    place.parley(['--json', '--quiet', 'sessions', 'get', 'ses_x']),
    place.parley(['sessions', '--json', 'get', '--quiet', 'ses_x']),
    place.parley(['sessions', 'get', 'ses_x', '--quiet', '--json']),
    place.parley([
      '--profile',
      'local',
      'sessions',
      'get',
      'ses_x',
      '--json',
      '--no-input',
      '--timeout',
      '5',
    ]),
  ]);
  const seen = all.map(({ status, out, err }) => [status, out.replace(/req_[\w-]+/, ''), err]);
  expect(seen).toEqual([seen[0], seen[0], seen[0], seen[0]]);
  expect(seen[0]?.[0]).toBe(5);
  expect((await place.parley(['models', '--profile', 'nope'])).status).toBe(2);
});

test('a text of several words without a command is a message', async () => {
  const reply = async (args: readonly string[], stdin = '') =>
    place.output(['-m', 'echo', ...args], { stdin });
  expect(await place.output(['What is this?', '-m', 'echo'])).toBe('What is this?\n');
  expect(await reply(['Explain this:'], 'one\n')).toBe('Explain this:\n\none\n');
  expect(await reply(['-c', '--system', 'Be short.', 'And now?'])).toBe('And now?\n');
  expect(await reply(['--', '-n is an option'])).toBe('-n is an option\n');
});

test('without a command and a message, --json gets a failure in JSON, and no help', async () => {
  expect(await place.parley([])).toMatchObject({ status: 0, out: expect.stringContaining('Usage: parley') });
  for (const words of [['--json'], ['--json', '--no-input']])
    expectJsonFailure(await place.parley(words), { status: 2, code: 'USAGE' });
});

test.each([
  [['hello'], "Unknown command 'hello'."],
  [['sessions list'], "Unknown command 'sessions list'."],
  [['sesions', 'search', 'two words'], "Unknown command 'sesions'."],
])('%j names no command and is no message', async (args, problem) => {
  const { status, out, err } = await place.parley(args);
  expect([status, out]).toEqual([2, '']);
  expect(err).toContain(problem);
});

test('version and help work where no file can be opened, and create none', async () => {
  const own = new PlaceInProcess();
  mkdirSync(own.configDirectory);
  writeFileSync(own.configFile, 'damaged');
  writeFileSync(join(own.path, 'file'), '');
  const env = { PARLEY_DATA_DIR: join(own.path, 'file', 'data') };
  for (const args of [['--version'], ['-V'], ['models', '--version']]) {
    expect(await own.binary(args, { env })).toMatchObject({
      status: 0,
      out: `${manifest.version}\n`,
      err: '',
    });
  }
  for (const [args, usage] of [
    [['--help'], 'Usage: parley [options]'],
    [['help'], 'Usage: parley [options]'],
    [[], 'Usage: parley [options]'],
    [['help', 'chat'], 'Usage: parley chat [options]'],
    [['chat', '--help'], 'Usage: parley chat [options]'],
    [['sessions', 'help', 'delete'], 'Usage: parley sessions delete [options]'],
    [['help', 'sessions', 'delete'], 'Usage: parley sessions delete [options]'],
    [['sessions', 'delete', '-h'], 'Usage: parley sessions delete [options]'],
  ] as const) {
    const { status, out, err } = await own.parley(args, { env });
    expect({ status, err, usage: out.slice(0, usage.length) }).toEqual({ status: 0, err: '', usage });
  }
  expect(readdirSync(own.path).sort()).toEqual(['bin', 'config', 'file']);
  own.remove();
});

test('help names every command and every global option', async () => {
  const out = await place.output(['--help']);
  for (const word of ['chat', 'sessions', 'models', 'verify', 'profiles', 'keys', 'doctor']) {
    expect(out).toMatch(new RegExp(`^  ${word} `, 'm'));
  }
  for (const option of [
    'profile',
    'url',
    'json',
    'quiet',
    'no-color',
    'no-input',
    'timeout',
    'insecure-http',
    'debug',
  ]) {
    expect(out).toMatch(new RegExp(`^  --${option}\\b`, 'm'));
  }
});

test('parley with input from a pipe is a chat', async () => {
  const env = { PARLEY_MODE: 'echo' };
  expect(await place.output([], { stdin: 'hello', env })).toBe('hello\n');
  expect(JSON.parse(await place.output(['--json'], { stdin: 'hello', env }))).toMatchObject({
    data: { reply: 'hello' },
  });
  expect((await place.shell('echo hello | parley --quiet', env)).out).toBe('hello\n');
});

test('parley with input from a pipe takes the options of a chat, and no word as a command', async () => {
  expect(await place.output(['-m', 'echo'], { stdin: 'hello' })).toBe('hello\n');
  expect(await place.output(['--quiet', '-m', 'echo', '--jq', '.data.reply'], { stdin: 'hi' })).toBe('hi\n');
  const batch = await place.parley(['--batch', '-m', 'echo', '--jq', '.data.reply'], { stdin: 'a\nb\n' });
  expect(batch.out).toBe('a\nb\n');
  for (const args of [['-m', 'echo', 'models'], ['--nonsense']]) {
    expect(await place.parley(args, { stdin: 'hello' })).toMatchObject({ status: 2, out: '' });
  }
});

test('every command works in a working directory that was removed', async () => {
  const { status, out, err } = await place.shell(
    'mkdir gone; cd gone; rmdir ../gone; parley chat -n -m echo hi',
  );
  expect({ status, out }).toEqual({ status: 0, out: 'hi\n' });
  expectNoStackTrace(err);
});

test('nothing is read from the working directory', async () => {
  for (const name of ['config.json', '.env', 'parley.json', '.parleyrc']) {
    writeFileSync(join(place.path, name), 'PARLEY_MODE=nope');
  }
  expect(await place.output(['chat', '-n', 'hi'])).not.toBe('');
});
