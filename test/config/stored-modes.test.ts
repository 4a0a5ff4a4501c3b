// The modes in the stored configuration: stored without defaults, checked when written and read, and the sources of their keys.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readKeyReference } from '../../src/config/key-reference.ts';
import { emptyConfig, type StoredModes } from '../../src/config/stored-config.ts';
import {
  putMode as putAsSeen,
  removeMode,
  setDefaultMode,
  storedFields,
  storedModeConfig,
} from '../../src/config/stored-modes.ts';
import { defaultModeSettings, type ModeSettings } from '../../src/service/mode-settings.ts';
import { readStat } from '../../src/system/process-stat.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const mode = (name: string, settings: Partial<ModeSettings> = {}): ModeSettings => ({
  ...defaultModeSettings,
  ...{ name, base_url: 'https://a.example/v1', model: 'm', ...settings },
});

const putMode = (modes: StoredModes, settings: ModeSettings): StoredModes =>
  putAsSeen(modes, settings, storedFields(modes, settings.name));

const never = new AbortController().signal;

describe('a stored mode', () => {
  test('is read as it was written, and is stored without defaults', () => {
    const settings = mode('a:b', { temperature: 0, parameters: { stop: ['x'] }, key: 'file:~/key' });
    const config = putMode(emptyConfig, settings);
    expect(config.modes).toEqual({
      'a:b': {
        ...{ base_url: 'https://a.example/v1', model: 'm', temperature: 0 },
        ...{ parameters: { stop: ['x'] }, key: 'file:~/key' },
      },
    });
    expect(storedModeConfig(config, 'config.json')).toEqual({ modes: [settings], faulty: [], default: null });
  });

  test('of any name is its own: __proto__ is refused, constructor is a mode like any other', () => {
    expect(() => putMode(emptyConfig, mode('__proto__'))).toThrow('is not a valid mode name');
    expect(storedModeConfig(putMode(emptyConfig, mode('constructor')), 'x').modes).toHaveLength(1);
    expect(() => removeMode(emptyConfig, 'constructor')).toThrow('There is no mode "constructor"');
  });

  test('that somebody else has added, changed or removed meanwhile is not overwritten', () => {
    const one = putMode(emptyConfig, mode('a', { model: 'one' }));
    const seen = storedFields(one, 'a');
    const two = putMode(one, mode('a', { model: 'two' }));
    const three = mode('a', { model: 'three' });
    for (const [now, before] of [
      [two, seen],
      [emptyConfig, seen],
      [one, null],
    ] as const) {
      expect(() => putAsSeen(now, three, before)).toThrow('The mode a was changed by somebody else');
    }
    // The same change by both is no conflict, because it may be one change that was sent twice.
    expect(putAsSeen(two, mode('a', { model: 'two' }), seen).modes).toEqual(two.modes);
    expect(putAsSeen(putMode(one, mode('b')), three, seen).modes).toHaveProperty('b');
  });

  test('that is the fallback of another cannot be removed; a removed one is no longer the default', () => {
    const two = putMode(putMode(emptyConfig, mode('small')), mode('large', { fallback: 'small' }));
    expect(() => removeMode(two, 'small')).toThrow('The mode large falls back to small');
    const chosen = setDefaultMode(two, 'large');
    expect(storedModeConfig(chosen, 'x').default).toBe('large');
    expect(removeMode(chosen, 'large').default_mode).toBeNull();
    expect(() => setDefaultMode(two, 'nobody')).toThrow('There is no mode "nobody"');
    expect(() => removeMode(two, 'echo')).toThrow('built in');
  });

  test('that was edited wrongly is reported with file and field, and does not affect others', () => {
    const broken = { base_url: 'https://a.example' };
    const whole = putMode(putMode(emptyConfig, mode('good')), mode('other', { fallback: 'good' }));
    const config = { ...whole, modes: { fast: broken, nothing: null, ...whole.modes } };
    const { modes, faulty } = storedModeConfig(config, '/c/config.json');
    expect(modes.map(({ name }) => name)).toEqual(['good', 'other']);
    expect(faulty.map(({ name, failure }) => [name, failure.code, failure.message])).toEqual([
      ['fast', 'CONFIG', '/c/config.json: modes.fast.model is missing.'],
      ['nothing', 'CONFIG', '/c/config.json: modes.nothing is not an object.'],
    ]);
    expect(faulty[0]?.failure.remedy).toEqual({ kind: 'mend_mode', mode: 'fast' });
    const next = putMode(removeMode(config, 'nothing'), mode('new', { fallback: 'fast' }));
    expect(Object.keys(next.modes)).toEqual(['fast', 'good', 'other', 'new']);
    const mended = putMode(next, mode('fast'));
    expect(storedModeConfig(mended, 'x').faulty).toEqual([]);
    expect(storedFields(config, 'fast')).toEqual(broken);
    expect(storedFields(config, 'constructor')).toBeNull();
  });

  test('is faulty if its fallback is missing or leads back to it, but not if its fallback is faulty', () => {
    const fields = (fallback: string) => ({ base_url: 'https://a.example', model: 'm', fallback });
    const modes = { a: fields('b'), b: fields('a'), c: fields('gone'), d: fields('c') };
    const book = storedModeConfig({ ...emptyConfig, modes }, 'x');
    expect(book.modes.map(({ name }) => name)).toEqual(['d']);
    expect(book.faulty.map(({ name, failure }) => `${name}: ${failure.message}`)).toEqual([
      'a: x: modes.a.fallback leads back to the mode itself.',
      'b: x: modes.b.fallback leads back to the mode itself.',
      'c: x: modes.c.fallback is not a mode: "gone".',
    ]);
  });

  test('that is the default and missing is faulty: no other mode replies in its place', () => {
    const config = { ...putMode(emptyConfig, mode('good')), default_mode: 'gone' };
    const book = storedModeConfig(config, 'x');
    expect(book.default).toBe('gone');
    expect(book.faulty.map(({ name, failure }) => [name, failure.message, failure.remedy])).toEqual([
      ['gone', 'x: default_mode is not a mode.', { kind: 'choose_default_mode' }],
    ]);
    expect(storedModeConfig(setDefaultMode(config, 'good'), 'x').faulty).toEqual([]);
  });

  test.each([
    'key',
    'api_key',
    'apiKey',
    'X-API-Key',
    'openai_api_key',
    'authorization',
    'token',
    'access_token',
  ])('has no parameter %s, so that no key is stored', (name) => {
    expect(() => putMode(emptyConfig, mode('a', { parameters: { [name]: 'sk-secret' } }))).toThrow(
      `parameters.${name} must not hold a key`,
    );
  });

  test('has parameters whose names are similar to its settings', () => {
    const parameters = {
      prompt_cache_key: 'a',
      max_tokens: 1,
      stop_token_ids: [1],
      skip_special_tokens: true,
    };
    expect(storedModeConfig(putMode(emptyConfig, mode('a', { parameters })), 'x').faulty).toEqual([]);
  });

  test('with a relative path, as an earlier version stored it, is faulty', () => {
    const config = {
      ...emptyConfig,
      modes: { a: { base_url: 'https://a.example', model: 'm', key: 'file:key' } },
    };
    expect(storedModeConfig(config, 'x').faulty.map(({ failure }) => failure.message)).toEqual([
      'x: modes.a.key names a file by a relative path: "key".',
    ]);
  });
});

describe('the key of a reference', () => {
  const directory = () => {
    const path = temporaryDirectory();
    return path;
  };

  test('is that of the variable, the file or the command, without white space around it', async () => {
    const home = directory();
    writeFileSync(join(home, 'key'), ' in-a-file\r\n');
    const env = { HOME: home, KEY: 'in-env', PATH: process.env['PATH'] };
    const read = (reference: string) => readKeyReference(reference, 'fast', env, never);
    expect(await read('env:KEY')).toBe('in-env');
    expect(await read(`file:${home}/key`)).toBe('in-a-file');
    expect(await read('file:~/key')).toBe('in-a-file');
    expect(await read('command:cat ~/key')).toBe('in-a-file');
    expect(await read('command:echo "$KEY" | tr e E')).toBe('in-Env');
  });

  test('by a command is not run in the current directory', async () => {
    const read = readKeyReference('command:pwd', 'fast', { PATH: process.env['PATH'] }, never);
    expect(await read).toBe('/');
  });

  test.each([
    ['file:~/key', 'the file ~/key cannot be read (HOME is not set)'],
    ['env:NONE', 'the variable NONE is not set'],
    ['env:EMPTY', 'the variable EMPTY is empty'],
    ['env:TWO', 'the variable TWO contains invalid characters'],
    ['file:/nowhere/key', 'the file /nowhere/key cannot be read (ENOENT)'],
    ['file:/', 'the file / cannot be read (a directory)'],
    ['file:/dev/zero', 'the file /dev/zero cannot be read (not a regular file)'],
    ['command:head -c 200000 /dev/zero | tr "\\0" k', 'the command wrote more than 65536 bytes'],
    ['command:true', 'the output of the command is empty'],
    ['command:echo secret >&2; exit 3', 'the command failed (exit 3)'],
    ['command:kill -9 $$', 'the command failed (exit by a signal)'],
  ])('%s without a key is reported, and its content is not shown', async (reference, problem) => {
    const env = { EMPTY: '', TWO: 'secret secret', PATH: process.env['PATH'] };
    const failure = await readKeyReference(reference, 'fast', env, never).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'ENGINE_FAILED',
      message: `The mode fast has no key: ${problem}.`,
    });
    expect(String(failure)).not.toContain('secret');
  });

  test('is not read from a file that is too large, or from a pipe without a writer', async () => {
    const path = directory();
    writeFileSync(join(path, 'large'), 'k'.repeat(65_537));
    execFileSync('mkfifo', [join(path, 'pipe')]);
    const read = (name: string) => readKeyReference(`file:${join(path, name)}`, 'fast', {}, never);
    await expect(read('large')).rejects.toThrow('cannot be read (larger than 65536 bytes)');
    await expect(read('pipe')).rejects.toThrow('cannot be read (not a regular file)');
  });

  test('from a command that ignores the request to end is given up after its time, and the command is killed', async () => {
    const pidFile = join(directory(), 'pid');
    const env = { PATH: process.env['PATH'] };
    const command = `command:trap '' TERM; echo $$ > ${pidFile}; while :; do sleep 0.1; done`;
    const startedAt = performance.now();
    await expect(readKeyReference(command, 'fast', env, never, 300)).rejects.toThrow(
      'The mode fast has no key: the command took more than 0.3 s.',
    );
    expect(performance.now() - startedAt).toBeLessThan(5000);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 5000);
  });

  test.skipIf(process.platform !== 'linux').each([
    ['ends', 'sleep 60 & echo $! > PID; wait'],
    ['ends', '(sleep 60 & echo $! > PID; wait) | cat'],
    ['ignores', '(trap "" TERM; sh -c "echo \\$\\$ > PID; while :; do sleep 0.1; done")'],
  ])('from a command whose child %s the request to end leaves no process behind (%s)', async (_, line) => {
    const pidFile = join(directory(), 'pid');
    const command = `command:${line.replace('PID', pidFile)}`;
    const reading = readKeyReference(command, 'fast', { PATH: process.env['PATH'] }, never, 300);
    await expect(reading).rejects.toThrow('The mode fast has no key: the command took more than 0.3 s.');
    const pid = Number(readFileSync(pidFile, 'utf8'));
    // A process that has ended and is not collected yet is still listed.
    await vi.waitFor(() => expect(readStat(pid)?.hasEnded ?? true).toBe(true), 500);
  });

  test('from a command that leaves a program in the background is available soon after the command has ended', async () => {
    const pidFile = join(directory(), 'pid');
    const env = { PATH: process.env['PATH'] };
    const startedAt = performance.now();
    const read = readKeyReference(`command:sleep 60 & echo $! > ${pidFile}; echo key`, 'fast', env, never);
    expect(await read).toBe('key');
    expect(performance.now() - startedAt).toBeLessThan(5000);
    process.kill(Number(readFileSync(pidFile, 'utf8')));
  });

  test('from a command is given up when the call is stopped', async () => {
    const stop = new AbortController();
    const env = { PATH: process.env['PATH'] };
    const reading = readKeyReference('command:echo secret; sleep 20; true', 'fast', env, stop.signal);
    setTimeout(() => stop.abort(), 100);
    await expect(reading).rejects.toThrow('The mode fast has no key: the command was stopped.');
  });
});
