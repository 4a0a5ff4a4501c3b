// A chat with a title, at servers that accept titles only for created sessions, as in the interface document, and at a Parley server.
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { type ReceivedRequest, sendJson, serve } from '../support/scripted-server.ts';

const session = { session_id: 's-1', title: 'T', created_at: '2026-01-01T00:00:00.000Z', message_count: 0 };
const reply = { success: true, data: { session_id: 's-1', reply: 'Hi.' } };

/** A server with only the six operations, whose response to a chat the test decides. */
async function meet(answerChat: (response: ServerResponse) => unknown, extensions: string | null = null) {
  const server = await serve(({ method, path }, response) => {
    if (extensions !== null) response.setHeader('Parley-Extensions', extensions);
    if (path === '/v1/models') return sendJson(response, { success: true, data: ['m'] });
    if (path === '/v1/chat') return answerChat(response);
    return sendJson(response, { success: true, data: method === 'POST' ? session : {} });
  });
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const call = callWith('key', { idempotencyKey: 'k' });
  const chat = (mode = 'm') =>
    collect(backend.service.chat(call, { mode, message: 'Hello', session_id: null, title: 'T' }, 'whole'));
  return { chat, server };
}

const requestOf = ({ method, path }: ReceivedRequest) => `${method} ${path}`;

it('the session is created first, with a key of its own, and gets the message', async () => {
  const { chat, server } = await meet((response) => sendJson(response, reply));
  await chat();
  expect(server.requests.map(requestOf)).toEqual(['GET /v1/models', 'POST /v1/sessions', 'POST /v1/chat']);
  expect(server.requests.map(({ body }) => body && JSON.parse(body))).toEqual([
    '',
    { title: 'T' },
    { mode: 'm', message: 'Hello', session_id: 's-1' },
  ]);
  expect(server.requests.slice(1).map(({ headers }) => headers['idempotency-key'])).toEqual([
    'k-session',
    'k',
  ]);
  await chat();
  expect(server.requests.slice(3).map(requestOf)).toEqual(['POST /v1/sessions', 'POST /v1/chat']);
});

it('a server that turns out to be a Parley server gets the title with the message', async () => {
  const { chat, server } = await meet((response) => sendJson(response, reply), 'archive, idempotency');
  await chat();
  expect(server.requests.map(requestOf)).toEqual(['GET /v1/models', 'POST /v1/chat']);
  expect(JSON.parse(server.requests[1]?.body ?? '')).toEqual({ mode: 'm', message: 'Hello', title: 'T' });
});

it('with an unknown mode, nothing is created', async () => {
  const { chat, server } = await meet((response) => sendJson(response, reply));
  expect(await failureOf(chat('n'))).toMatchObject({ code: 'UNKNOWN_MODE', hint: 'Modes: m.' });
  expect(server.requests.map(requestOf)).toEqual(['GET /v1/models']);
});

it('if the message is refused, its session is deleted', async () => {
  const error = { code: 'INVALID_REQUEST', message: 'No.' };
  const { chat, server } = await meet((response) => sendJson(response, { success: false, error }, 400));
  expect((await failureOf(chat())).code).toBe('INVALID_REQUEST');
  expect(server.requests.map(requestOf).slice(2)).toEqual(['POST /v1/chat', 'DELETE /v1/sessions/s-1']);
});

it.each([
  ['a connection that is lost', (response: ServerResponse) => response.socket?.destroy()],
  ['a failure', (response: ServerResponse) => sendJson(response, { success: false, error: {} }, 500)],
])('after %s the session stays, since the message may be in it', async (_, answerChat) => {
  const { chat, server } = await meet(answerChat);
  await failureOf(chat());
  expect(server.requests.map(requestOf).at(-1)).toBe('POST /v1/chat');
});
