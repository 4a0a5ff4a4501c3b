// The settings of a session: its mode, its system prompt and its parameters, and the options that set them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ChatReply } from '../../src/service/chat-event.ts';
import type { ModeSettings } from '../../src/service/mode-settings.ts';
import type { NewSession, Page, Session } from '../../src/service/session.ts';
import { entered, ReplFixture } from '../cli/repl/repl-fixture.ts';
import { expectFailure } from '../support/failures.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { PlaceWithModel } from '../support/place-with-model.ts';
import { type ScriptedServer, sendJson, serve } from '../support/scripted-server.ts';
import { servePlace } from '../support/served-place.ts';

let place: PlaceWithModel;
const fixture = new ReplFixture();
beforeAll(async () => {
  place = await PlaceWithModel.open();
  await place.add(
    'own',
    '--system',
    'You are kind.',
    '--temperature',
    '1',
    '--param',
    'top_p=1',
    '--default',
  );
});
afterEach(() => fixture.close());
afterAll(() => place.close());

const chat = (...words: readonly string[]) => place.answer<ChatReply>(['chat', '-n', ...words]);
const session = (id: string) => place.answer<Session>(['sessions', 'get', id]);

/** The last request of the model. */
function asked(): { readonly messages: readonly object[]; readonly [name: string]: unknown } {
  return JSON.parse(place.server.requests.at(-1)?.body ?? '{}');
}

test('a session starts with a system prompt and parameters, which each turn sends in place of those of its mode', async () => {
  const { session_id } = await chat(
    '--system',
    'Be brief.',
    '--param',
    'top_p=0.5',
    '--max-tokens',
    '9',
    'Hi',
  );
  const expected = {
    messages: [
      { role: 'system', content: 'You are kind.\n\nBe brief.' },
      { role: 'user', content: 'Hi' },
    ],
    temperature: 1,
    top_p: 0.5,
    max_tokens: 9,
  };
  expect(asked()).toMatchObject(expected);
  expect(await session(session_id)).toMatchObject({
    mode: 'own',
    system: 'Be brief.',
    parameters: { top_p: 0.5, max_tokens: 9 },
  });
  await chat('-s', session_id, 'Again');
  expect(asked()).toMatchObject({ ...expected, messages: expect.arrayContaining(expected.messages) });
});

test('an existing session gets them from then on, with one note', async () => {
  const id = (
    await place.output(['sessions', 'create', '--system', 'Be brief.', '--temperature', '0'])
  ).trim();
  const words = ['chat', '-n', '-s', id, '--system', '', '--param', 'stop=["."]', '--temperature', ''];
  const changed = await place.parley([...words, 'Hi']);
  expect(changed.err).toBe(
    'The session continues with no system prompt of its own and the parameters stop=["."].\n',
  );
  expect(asked()).toMatchObject({ temperature: 1, stop: ['.'] });
  expect(asked().messages[0]).toEqual({ role: 'system', content: 'You are kind.' });
  expect(await session(id)).toMatchObject({ system: null, parameters: { stop: ['.'] } });
  expect((await place.parley([...words, 'Hi'])).err).toBe('');
});

test('a mode that does not exist leaves the settings of a session as they are, and makes no copy of it', async () => {
  const id = (await chat('--system', 'Before.', 'Hi')).session_id;
  const sessions = () => place.answer<Page<Session>>(['sessions', 'list', '--limit', '200']);
  const before = await sessions();
  for (const words of [
    ['--system', 'After.'],
    ['--param', 'top_p=0.1'],
    ['--fork'],
    ['--regenerate', '--system', ''],
  ]) {
    const message = words.includes('--regenerate') ? [] : ['Hi'];
    const refused = await place.parley(['chat', '-n', '-s', id, '-m', 'nope', ...words, ...message]);
    expectFailure(refused, { status: 2, code: 'UNKNOWN_MODE' });
    expect(refused.err).toMatch(/^parley: There is no mode "nope"\. /);
  }
  expect(await sessions()).toEqual(before);
});

test('the system prompt may be the text of a file, and invalid texts and numbers are refused', async () => {
  const file = join(place.path, 'system.txt');
  writeFileSync(file, 'From a file.\n');
  const binary = join(place.path, 'system.bin');
  writeFileSync(binary, Buffer.of(0xff));
  const id = (await chat('--system-file', file, 'Hi')).session_id;
  expect((await session(id)).system).toBe('From a file.\n');
  for (const [words, problem] of [
    [['--system-file', 'nowhere'], 'The file nowhere cannot be read: there is no such file. (USAGE)\n'],
    [['--system-file', binary], `The file ${binary} cannot be read: it is not UTF-8. (USAGE)\n`],
    [['--system-file', place.path], `The file ${place.path} cannot be read: it is a directory. (USAGE)\n`],
    [['--system', 'a', '--system-file', file], '--system and --system-file cannot be used together.'],
    [['--param', 'x'], 'Give NAME=VALUE'],
    [['--temperature', 'hot'], 'Give a number.'],
  ] as const) {
    const refused = await place.parley(['chat', '-n', ...words, 'Hi']);
    expectFailure(refused, { status: 2, code: 'USAGE' });
    expect(refused.err).toContain(problem);
  }
});

test('-s continues in the mode of the session, which has precedence over the variable and the default', async () => {
  const first = (await chat('-m', 'echo', 'one')).session_id;
  await chat('-m', 'own', 'another');
  const env = { PARLEY_MODE: 'eliza' };
  expect((await place.parley(['chat', '-n', '-s', first, 'two'], { env })).out).toBe('two\n');
  await chat('another');
  const changed = await place.parley(['chat', '-n', '-s', first, '-m', 'own', 'three']);
  expect(changed.err).toBe('The session continues in mode own; it was in echo before.\n');
});

test('a line of a batch gives settings to its session, and continues in the mode of the session that it names', async () => {
  const first = (await chat('-m', 'echo', 'one')).session_id;
  const lines = [
    { message: 'two', session_id: first, system: 'S', parameters: { a: 1 } },
    { message: 'new', mode: 'echo', system: 'T', parameters: { b: null, c: 2 } },
    { message: 'bad', parameters: [] },
  ];
  const stdin = lines.map((line) => JSON.stringify(line)).join('\n');
  const { out, err } = await place.parley(['chat', '--batch', '--param', 'b=3'], { stdin });
  const results = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(results.map(({ data, error }) => data?.reply ?? error.message)).toEqual([
    'two',
    'new',
    expect.stringContaining('Line 3: the field parameters must be an object, not an array.'),
  ]);
  expect(err).toContain('The settings of 1 session were changed.\n');
  expect(await session(first)).toMatchObject({ mode: 'echo', system: 'S', parameters: { a: 1, b: 3 } });
  expect(await session(results[1].data.session_id)).toMatchObject({ system: 'T', parameters: { c: 2 } });
});

test('a batch whose mode does not exist leaves the settings of its session as they are', async () => {
  const id = (await chat('-m', 'echo', '--system', 'Before.', 'Hi')).session_id;
  const before = await session(id);
  const line = { message: 'Hi', session_id: id, mode: 'nope', system: 'After.' };
  const ofLine = await place.parley(['chat', '--batch'], { stdin: JSON.stringify(line) });
  expect(ofLine.status).toBe(3);
  expect(JSON.parse(ofLine.out).error.code).toBe('UNKNOWN_MODE');
  expect(ofLine.err).not.toContain('were changed');
  const words = ['chat', '--batch', '--in-session', '-s', id, '-m', 'nope', '--system', 'After.'];
  expectFailure(await place.parley(words, { stdin: 'Hi' }), { status: 2, code: 'UNKNOWN_MODE' });
  expect(await session(id)).toEqual(before);
});

test('a line of a batch leaves the settings of a session whose mode no longer exists', async () => {
  await place.add('brief');
  const id = (await chat('-m', 'brief', 'Hi')).session_id;
  await place.output(['modes', 'remove', 'brief']);
  const before = await session(id);
  const stdin = JSON.stringify({ message: 'Hi', session_id: id, system: 'After.' });
  const { out } = await place.parley(['chat', '--batch'], { stdin });
  expect(JSON.parse(out).error.code).toBe('UNKNOWN_MODE');
  expect(await session(id)).toEqual(before);
});

test('modes add --like copies the settings that are not given', async () => {
  await place.output(['modes', 'add', 'colder', '--like', 'own', '--temperature', '0']);
  const { name: _, ...own } = await place.answer<ModeSettings>(['modes', 'show', 'own']);
  expect(await place.answer(['modes', 'show', 'colder'])).toEqual({ ...own, name: 'colder', temperature: 0 });
  const refused = await place.parley(['modes', 'add', 'x', '--like', 'echo']);
  expectFailure(refused, { status: 2, code: 'USAGE' });
  expectFailure(await place.parley(['modes', 'add', 'x', '--like', 'nope']), {
    status: 2,
    code: 'UNKNOWN_MODE',
  });
});

test('/system and /param show and change them, also before the first message', async () => {
  const screen = fixture.open(['repl', '-m', 'own'], { columns: 110, rows: 40 }, place);
  await screen.stands('own> ');
  expect(await entered(screen, '/system')).toBe('(no system prompt of its own)');
  await entered(screen, '/system Be brief.');
  await entered(screen, '/param top_p=0.5');
  expect(await entered(screen, '/status')).toContain('system prompt of the next session: Be brief.');
  await entered(screen, 'Hi');
  expect(asked().messages[0]).toEqual({ role: 'system', content: 'You are kind.\n\nBe brief.' });
  expect(await entered(screen, '/param')).toBe('top_p=0.5');
  expect(await entered(screen, '/param top_p=')).toBe('The session continues with no parameters of its own.');
  expect(await entered(screen, '/param')).toBe('(no parameters of its own)');
  expect(await entered(screen, '/system ""')).toBe('The session continues with no system prompt of its own.');
  expect(await entered(screen, '/param nonsense')).toContain('/param temperature=0.2');
});

test('over HTTP a session is requested only if its settings change', async () => {
  const served = await servePlace(place);
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'far']);
  const client = new PlaceInProcess();
  await client.output(['login', '--url', served.url, '--profile', 'far', '--key-stdin'], { stdin: key });
  const requests = async (...words: readonly string[]) => {
    const { status, out, err } = await client.parley(['chat', '-n', '--debug', ...words, 'Hi']);
    const paths = [...err.matchAll(/^curl .*'?http:\/\/[\d.:]+(\/v1\/\S*?)'?(?: |$)/gm)].map(
      ([, path]) => path,
    );
    return { status, out, paths };
  };
  const first = (await client.answer<ChatReply>(['chat', '-n', '-m', 'echo', '--system', 'S', 'one']))
    .session_id;
  expect(await requests('-c')).toEqual({ status: 0, out: 'Hi\n', paths: ['/v1/chat'] });
  await client.output(['chat', '-n', '-m', 'own', 'another']);
  expect(await requests('-s', first)).toEqual({ status: 0, out: 'Hi\n', paths: ['/v1/chat'] });
  const [read, change] = Array.from({ length: 2 }, () => `/v1/sessions/${first}`);
  expect((await requests('-c', '--temperature', '1')).paths).toEqual([read, change, '/v1/chat']);
  expect(await client.answer(['sessions', 'get', first])).toMatchObject({
    ...{ mode: 'echo', system: 'S', parameters: { temperature: 1 } },
  });
  await served.end('SIGTERM');
  client.remove();
});

test('a server without settings is reported, and nothing is sent', async () => {
  const server = await basicServer();
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'k', NO_PROXY: '*' };
  for (const words of [
    ['chat', '-n', '-m', 'm', '--system', 'S', 'Hi'],
    ['chat', '-n', '-m', 'm', '-s', 'theirs', '--param', 'a=1', 'Hi'],
    ['sessions', 'create', '--temperature', '1'],
  ]) {
    const refused = await place.parley(words, { env });
    expectFailure(refused, { status: 1, code: 'UNSUPPORTED' });
  }
  expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  await server.close();
});

test('without settings a chat sends no additional request to a basic server', async () => {
  const server = await basicServer();
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'k', NO_PROXY: '*' };
  for (const words of [['-m', 'm'], ['-c'], ['-s', 'theirs'], ['-s', 'other', '-m', 'm']])
    expect((await place.parley(['chat', '-n', ...words, 'Hi'], { env })).status).toBe(0);
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array.from({ length: 4 }, () => 'POST /v1/chat'),
  );
  await server.close();
});

/** A server with only the interface document. */
function basicServer(): Promise<ScriptedServer> {
  return serve((request, response) => {
    const session: NewSession = { session_id: 'theirs', title: null, created_at: '', message_count: 0 };
    if (request.path !== '/v1/chat') return sendJson(response, { success: true, data: session });
    const { session_id = 'theirs' } = JSON.parse(request.body);
    return sendJson(response, { success: true, data: { session_id: session_id ?? 'theirs', reply: 'ok' } });
  });
}
