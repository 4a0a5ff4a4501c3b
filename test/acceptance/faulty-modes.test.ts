// Modes with a fault: settings that were edited wrongly or that are refused, files of keys, and turns that failed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ModeRecord } from '../../src/service/mode-settings.ts';
import { differences, readShapes } from '../support/json-shapes.ts';
import { replyOf, sendStream } from '../support/model-server.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceInProcess;
let server: ScriptedServer;
let script: Parameters<typeof serve>[0];
beforeEach(async () => {
  place = new PlaceInProcess();
  script = (_request, response) => sendStream(response, replyOf('Hello.'));
  server = await serve((request, response, count) => script(request, response, count));
});
afterEach(async () => {
  await server.close();
  place.remove();
});

const add = (name: string, ...more: readonly string[]) =>
  place.output(['modes', 'add', name, '--base-url', server.url, '--model', 'm', ...more]);
const edit = (change: (modes: Record<string, Record<string, unknown>>) => void) => {
  const config = JSON.parse(readFileSync(place.configFile, 'utf8'));
  change(config.modes);
  writeFileSync(place.configFile, JSON.stringify(config));
};

describe('a mode that was edited wrongly', () => {
  beforeEach(async () => {
    await add('good', '--default');
    await add('bad', '--temperature', '1');
    edit(({ bad }) => Object.assign(bad ?? {}, { base_url: 'http://models.example/v1', temprature: 1 }));
  });

  test('disables only itself, and is listed with its fault', async () => {
    expect(await place.output(['chat', '-n', 'Hi'])).toBe('Hello.\n');
    const modes = await place.answer<readonly ModeRecord[]>(['modes', 'list']);
    const problem = `${place.configFile}: modes.bad.temprature is not a setting of a mode.`;
    expect(modes.map((mode) => [mode.name, mode.problem])).toEqual([
      ['good', null],
      ['bad', problem],
      ['eliza', null],
      ['echo', null],
    ]);
    const body: unknown = JSON.parse(await place.output(['modes', 'list', '--json']));
    expect(differences(body, readShapes().get('parley modes list') ?? new Map())).toEqual([]);
    const table = await place.parley(['modes', 'list']);
    expect(table.out).toMatch(/^\tbad\t\tfaulty\t/m);
    expect(table.err).toContain(`Mode bad is invalid. ${problem}`);
    const shown = await place.parley(['modes', 'show', 'bad']);
    expect(shown).toMatchObject({ status: 2, err: expect.stringContaining(`${problem} (CONFIG)`) });
    expect(shown.err).toContain('parley modes set bad');
    expect(shown.err).toContain('parley modes remove bad');
  });

  test('is reported to a client as a failure of that mode, and to the log in full', async () => {
    const served = await servePlace(place);
    const key = (await place.output(['keys', 'create', '--project', 'default'])).trim();
    const env = { PARLEY_API_KEY: key };
    const words = ['chat', '-n', '--url', served.url];
    const refused = await place.parley([...words, '-m', 'bad', '--json', 'Hi'], { env });
    expect(refused.status).toBe(1);
    expect(JSON.parse(refused.out).error).toMatchObject({ code: 'ENGINE_FAILED' });
    expect(refused.out).not.toContain(place.configFile);
    expect((await place.parley([...words, '-m', 'good', 'Hi'], { env })).out).toBe('Hello.\n');
    expect((await served.end('SIGTERM')).err).toContain('modes.bad.temprature is not a setting of a mode');
  });

  test('fails when it is used, and nothing is stored', async () => {
    const { status, err } = await place.parley(['chat', '-n', '-m', 'bad', 'Hi']);
    expect({ status, err }).toEqual({
      status: 2,
      err: expect.stringContaining('modes.bad.temprature is not a setting of a mode. (CONFIG)'),
    });
    expect(await place.output(['sessions', 'list'])).toBe('');
    await place.output(['modes', 'default', 'bad']);
    expect((await place.parley(['chat', '-n', 'Hi'])).status).toBe(2);
  });

  test('is repaired by a change, which keeps the valid settings', async () => {
    const half = await place.parley(['modes', 'set', 'bad', '--model', 'n']);
    expect(half).toMatchObject({
      status: 2,
      err: expect.stringContaining('would send the messages unencrypted'),
    });
    const { status, err } = await place.parley(['modes', 'set', 'bad', '--base-url', server.url]);
    expect({ status, err }).toEqual({
      status: 0,
      err: expect.stringContaining('Dropped unknown settings: temprature.'),
    });
    expect(await place.answer(['modes', 'show', 'bad'])).toMatchObject({ model: 'm', temperature: 1 });
    expect(await place.output(['chat', '-n', '-m', 'bad', 'Hi'])).toBe('Hello.\n');
  });

  test('can be removed', async () => {
    await place.output(['modes', 'remove', 'bad']);
    expect((await place.parley(['modes', 'show', 'bad'])).err).toContain('There is no mode "bad"');
  });

  test('as a fallback fails, too, and the first failure is reported', async () => {
    script = (_request, response) => sendJson(response, { error: { message: 'No luck' } }, 500);
    await place.output(['modes', 'set', 'good', '--fallback', 'bad']);
    const { status, err } = await place.parley(['chat', '-n', 'Hi']);
    expect({ status, err }).toEqual({ status: 1, err: expect.stringContaining('No luck') });
    expect(err).toContain('Its fallback bad failed, too:');
  });
});

test('after a failed turn the model gets its message with the next one, and no empty reply between them', async () => {
  await add('fast', '--default');
  script = (_request, response) => sendJson(response, { error: { message: 'No luck' } }, 500);
  expect((await place.parley(['chat', '-n', 'My name is Ada.'])).status).toBe(1);
  script = (_request, response) => sendStream(response, replyOf('Hello'));
  const id = (await place.output(['sessions', 'list', '--ids'])).trim();
  await place.output(['chat', '-n', '-s', id, 'Who am I?']);
  const { messages } = JSON.parse(server.requests.at(-1)?.body ?? '') as { messages: unknown };
  expect(messages).toEqual([{ role: 'user', content: 'My name is Ada.\n\nWho am I?' }]);
});

test('the file of a key is the same from every directory', async () => {
  const [keys, elsewhere] = ['keys', 'elsewhere'].map((name) => join(place.path, name)) as [string, string];
  for (const [directory, key] of Object.entries({ [keys]: 'sk-right', [elsewhere]: 'sk-wrong' })) {
    mkdirSync(directory);
    writeFileSync(join(directory, 'key'), key);
  }
  const parley = (directory: string, ...words: readonly string[]) =>
    place.shell(`cd '${directory}' && parley ${words.join(' ')}`);
  const url = ['--base-url', server.url, '--model', 'm'];
  expect(await parley(keys, 'modes', 'add', 'a', ...url, '--key', 'file:key')).toMatchObject({ status: 0 });
  const key = async (name: string) => (await place.answer<{ key: string }>(['modes', 'show', name])).key;
  expect(await key('a')).toBe(`file:${keys}/key`);
  await parley(elsewhere, 'chat', '-n', '-m', 'a', 'Hi');
  expect(server.requests.at(-1)?.headers.authorization).toBe('Bearer sk-right');
  expect(await parley(keys, 'modes', 'set', 'a', '--key', 'file:../elsewhere/key')).toMatchObject({
    status: 0,
  });
  expect(await key('a')).toBe(`file:${elsewhere}/key`);
  await place.output(['modes', 'set', 'a', '--key', 'file:~/key'], { env: { HOME: keys } });
  expect(await key('a')).toBe(`file:${keys}/key`);
  // As an earlier version stored it.
  edit(({ a }) => Object.assign(a ?? {}, { key: 'file:key' }));
  const refused = await parley(elsewhere, 'chat', '-n', '-m', 'a', 'Hi');
  expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('by a relative path: "key"') });
  expect(refused.err).toContain('parley modes set a');
  expect((await parley(keys, 'modes', 'set', 'a', '--key', 'file:key')).status).toBe(0);
  expect(await key('a')).toBe(`file:${keys}/key`);
});

test.each([
  [['--max-tokens', '-5'], /--max-tokens/],
  [['--max-tokens', '0'], /--max-tokens/],
  [['--max-tokens', '1.5'], /--max-tokens/],
  [['--temperature', '-1'], /--temperature/],
  [['--temperature', '99'], /--temperature/],
  [['--param', 'api_key=sk-canary'], /api_key must not hold a key/],
  [['--param', 'extra_headers={"Authorization":"sk-canary"}'], /Authorization must not hold a key/],
  [['--context', '0'], /context/],
])('modes add with %j is refused, and nothing is stored', async (flags, message) => {
  const words = ['modes', 'add', 'a', '--base-url', server.url, '--model', 'm', ...flags];
  expect(await place.parley(words)).toMatchObject({ status: 2, err: expect.stringMatching(message) });
  expect((await place.parley(words)).err).not.toContain('sk-canary');
  expect(await place.answer(['modes', 'list'])).toHaveLength(2);
});
