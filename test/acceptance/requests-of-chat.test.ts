// The number of requests that a chat sends to a server: one, also with `-c` and with the full id of a session.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

const place = new PlaceInProcess();
let server: ServerFixture;
let url: string;

beforeAll(async () => {
  server = await openServer();
  ({ url } = await server.listen());
  const login = ['login', '--url', url, '--profile', 'team', '--key-stdin'];
  await place.output([...login, '--quiet'], { stdin: server.key });
});
afterAll(async () => {
  await server.close();
  place.remove();
});

/** The requests that the server has logged since the last call. */
const requestsSince = (before: number) =>
  server
    .log()
    .slice(before)
    .map(({ method, path }) => `${method} ${path}`);

/** The session of the chat, its mode, and its requests. */
async function chat(...words: readonly string[]) {
  const before = server.log().length;
  const { session_id, mode } = await place.answer<{ session_id: string; mode: string }>([
    ...['chat', '-n', ...words, 'Hello'],
  ]);
  return { session_id, mode, requests: requestsSince(before) };
}

const turn = ['POST /v1/chat'];

test('a new session, -c and the session used last are one request each', async () => {
  const { session_id, requests } = await chat('-m', 'echo');
  expect(requests).toEqual(turn);
  expect((await chat()).requests).toEqual(turn);
  expect((await chat('-c')).requests).toEqual(turn);
  expect((await chat('-c')).session_id).not.toBe(session_id);
  const other = await chat('-s', session_id, '-m', 'echo');
  expect(other).toMatchObject({ session_id, requests: turn });
  expect(await chat('-s', session_id)).toMatchObject({ session_id, requests: turn });
  expect(await chat('-c')).toMatchObject({ session_id, requests: turn });
});

test('another session continues in its own mode, with one request', async () => {
  const { session_id } = await chat('-m', 'echo');
  await chat('-m', 'eliza');
  expect(await chat('-s', session_id)).toEqual({ session_id, mode: 'echo', requests: turn });
  expect(await place.output(['chat', '-n', '-c', 'said in echo'])).toBe('said in echo\n');
});

test('the first response of a server that is named by its URL tells what it supports', async () => {
  const { session_id } = await chat('-m', 'echo');
  const other = new PlaceInProcess();
  const env = { PARLEY_URL: url, PARLEY_API_KEY: server.key };
  await other.output(['chat', '-n', '-m', 'eliza', 'Hello'], { env });
  const before = server.log().length;
  expect(await other.output(['chat', '-n', '-s', session_id, 'Hello'], { env })).toBe('Hello\n');
  expect(requestsSince(before)).toEqual(turn);
  other.remove();
});

test('a server that is named by its URL for the first time is asked for its modes, and not for the session', async () => {
  const { session_id } = await chat('-m', 'echo');
  const other = new PlaceInProcess();
  const env = { PARLEY_URL: url, PARLEY_API_KEY: server.key };
  const before = server.log().length;
  expect(await other.output(['chat', '-n', '-s', session_id, 'Hello'], { env })).toBe('Hello\n');
  expect(requestsSince(before)).toEqual(['GET /v1/models', ...turn]);
  other.remove();
});

test('a turn that is repeated by its key is the same with and without its mode', async () => {
  const { session_id } = await chat('-m', 'echo');
  await chat('-m', 'eliza');
  const key = ['--idempotency-key', 'the-same', '-s', session_id];
  expect((await chat(...key)).requests).toEqual(turn);
  for (const named of [[], ['-m', 'echo']]) {
    await place.output(['chat', '-n', '-s', session_id, '-m', 'eliza', 'In another mode']);
    await chat('-m', 'eliza');
    expect(await chat(...key, ...named)).toMatchObject({ session_id, mode: 'echo' });
  }
  const { message_count } = await place.answer<{ message_count: number }>(['sessions', 'get', session_id]);
  expect(message_count).toBe(8);
});

test('a session of another program, which has no mode, continues in the default mode', async () => {
  const time = '2024-05-01T12:00:00.000Z';
  const message = {
    position: 0,
    role: 'user',
    content: 'hi',
    mode: 'gpt-9',
    finish_reason: null,
    usage: null,
  };
  const session = { session_id: 'ses_elsewhere', title: null, created_at: time, updated_at: time };
  const body = {
    session: { ...session, message_count: 1 },
    messages: [{ ...message, message_id: 'chatgpt/1', created_at: time }],
  };
  expect((await server.ask('POST', '/v1/sessions/import', { body })).status).toBe(200);
  const before = server.log().length;
  const { err } = await place.parley(['chat', '-n', '-s', 'ses_elsewhere', 'Hello']);
  expect(err).toContain('imported from another program. It continues in mode eliza.');
  expect(requestsSince(before)).toEqual([
    ...['POST /v1/chat', 'GET /v1/sessions/ses_elsewhere', 'POST /v1/chat'],
  ]);
});

test('a server that no longer supports it refuses, and is asked for the mode', async () => {
  const sent: string[] = [];
  const older = await serve(({ method, path, body }, response, count) => {
    sent.push(`${method} ${path} ${body}`.trim());
    if (count === 1) response.setHeader('Parley-Extensions', 'archive, settings, mode');
    else response.setHeader('Parley-Extensions', 'archive, settings');
    const { mode, session_id = 'ses_1' } = JSON.parse(body || '{}');
    const read = path.endsWith('models') ? ['b'] : { session_id: path.split('/').at(-1), mode: 'b' };
    if (method === 'GET') return sendJson(response, { success: true, data: read });
    const error = { code: 'INVALID_REQUEST', message: 'The field mode must be a string, not null.' };
    if (mode === null) return sendJson(response, { success: false, error }, 400);
    return sendJson(response, { success: true, data: { session_id, mode, reply: `in ${mode}` } });
  });
  const env = { PARLEY_URL: older.url, PARLEY_API_KEY: 'k' };
  expect(await place.output(['chat', '-n', '-m', 'a', 'Hello'], { env })).toBe('in a\n');
  expect(await place.output(['chat', '-n', '-s', 'ses_2', 'Hello'], { env })).toBe('in b\n');
  expect(sent.slice(1)).toEqual([
    'POST /v1/chat {"mode":null,"message":"Hello","session_id":"ses_2"}',
    'GET /v1/sessions/ses_2',
    'POST /v1/chat {"mode":"b","message":"Hello","session_id":"ses_2"}',
  ]);
  sent.length = 0;
  // The response before this one said so, therefore no message is sent without a mode.
  expect(await place.output(['chat', '-n', '-s', 'ses_3', 'Hello'], { env })).toBe('in b\n');
  expect(sent).toEqual([
    'GET /v1/models',
    'GET /v1/sessions/ses_3',
    'POST /v1/chat {"mode":"b","message":"Hello","session_id":"ses_3"}',
  ]);
  await older.close();
});
