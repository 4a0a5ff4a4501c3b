// Other replies, undo, redo and forks at a remote server: their requests, which only a server with the extension gets.
import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import type { RemoteOptions } from '../../src/remote/remote-options.ts';
import type { Backend } from '../../src/service/backend.ts';
import type { Call } from '../../src/service/call.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { type Script, sendJson, serve } from '../support/scripted-server.ts';

const call = callWith('k');
const time = '2026-01-01T00:00:00.000Z';
const session = { session_id: 's-1', title: 'T', created_at: time, updated_at: time, message_count: 2 };
const message = {
  ...{ message_id: 'm-1', position: 0, role: 'user', content: 'Hello', mode: 'echo', finish_reason: null },
  ...{ usage: null, created_at: time },
};
const reply = { session_id: 's-1', message_id: 'm-2', mode: 'calm', reply: 'Hi.', finish_reason: 'stop' };

const offering = (extensions: string) => (response: ServerResponse) =>
  response.setHeader('Parley-Extensions', extensions);
const withLines = offering('archive, idempotency, stream, lines');

/** A server with one session, which answers every operation of the extension. */
const parley: Script = ({ path, method }, response) => {
  withLines(response);
  if (path.endsWith('/regenerate')) return sendJson(response, { success: true, data: reply });
  if (/\/(un|re)do$/.test(path)) return sendJson(response, { success: true, data: { session, message } });
  if (path.endsWith('/fork')) {
    return sendJson(response, { success: true, data: { ...session, session_id: 's-2', parent_id: 's-1' } });
  }
  if (path.includes('/messages'))
    return sendJson(response, { success: true, data: { items: [], next_cursor: null } });
  return sendJson(response, { success: method === 'GET' || path.endsWith('/import'), data: session });
};

async function meet(script: Script, options: Partial<RemoteOptions> = {}) {
  const server = await serve(script);
  const { backend } = await openRemote(server.url, options);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  return { backend, server };
}

const operations: Readonly<Record<string, (backend: Backend, call: Call) => Promise<unknown>>> = {
  'regenerate {}': ({ archive }) => collect(archive.regenerate(call, 's-1', {}, 'whole')),
  'regenerate {"mode":"calm"}': ({ archive }) =>
    collect(archive.regenerate(call, 's-1', { mode: 'calm' }, 'whole')),
  'undo ': ({ archive }) => archive.undoTurn(call, 's-1'),
  'redo ': ({ archive }) => archive.redoTurn(call, 's-1'),
  'fork {}': ({ archive }) => archive.forkSession(call, 's-1', {}),
  'fork {"through":1,"title":"Two"}': ({ archive }) =>
    archive.forkSession(call, 's-1', { through: 1, title: 'Two' }),
  'messages?limit=50&all=true ': ({ archive }) =>
    archive.listMessages(call, 's-1', { limit: 50, cursor: null, all: true }),
};

it.each(Object.entries(operations))(
  '%s is one request at a server that names the extension',
  async (name, ask) => {
    const { backend, server } = await meet(parley, { extensions: ['archive', 'lines'] });
    await ask(backend, call);
    const [path, body] = name.split(/ (.*)/);
    expect(server.requests.map((one) => [one.path, one.body])).toEqual([[`/v1/sessions/s-1/${path}`, body]]);
  },
);

it.each(Object.entries(operations))(
  '%s is not asked of a server that does not name the extension',
  async (_, ask) => {
    for (const extensions of [null, [], ['archive', 'idempotency', 'stream']]) {
      const { backend, server } = await meet(
        (_request, response) => {
          if (extensions !== null && extensions.length > 0) offering(extensions.join(', '))(response);
          sendJson(response, { success: true, data: session });
        },
        { extensions },
      );
      const failure = await failureOf(ask(backend, call));
      expect(failure.code).toBe('UNSUPPORTED');
      expect(failure.message).toContain('cannot regenerate replies, undo turns or fork sessions');
      expect(failure.hint).toContain('`lines`');
      expect(server.requests.map((one) => `${one.method} ${one.path}`)).toEqual(['GET /v1/models']);
    }
  },
);

it('a server that got the extension after the profile was stored is asked', async () => {
  const { backend, server } = await meet(parley, { extensions: ['archive', 'idempotency', 'stream'] });
  await backend.archive.undoTurn(call, 's-1');
  await backend.archive.redoTurn(call, 's-1');
  const paths = server.requests.map(({ path }) => path);
  expect(paths).toEqual(['/v1/models', '/v1/sessions/s-1/undo', '/v1/sessions/s-1/redo']);
});

it('a failure while the extensions are looked up is reported unchanged', async () => {
  const full = { success: false, error: { code: 'RATE_LIMITED', message: 'Too many' } };
  const { backend } = await meet((_request, response) => sendJson(response, full, 429));
  expect((await failureOf(backend.archive.undoTurn(call, 's-1'))).code).toBe('RATE_LIMITED');
});

it('a list of visible messages sends no further request', async () => {
  const { backend, server } = await meet(parley);
  await backend.archive.listMessages(call, 's-1', { limit: 50, cursor: null });
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/sessions/s-1/messages?limit=50']);
});

it('another reply streams like that of a chat, in the mode that the server names', async () => {
  const { backend, server } = await meet(
    (_request, response) => {
      withLines(response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const start = { session_id: 's-1', message_id: 'm-1', mode: 'calm' };
      const event = (name: string, data: unknown) =>
        response.write(`event: ${name}\ndata: ${JSON.stringify({ success: true, data })}\n\n`);
      event('session', start);
      event('delta', { text: 'Hi.' });
      event('done', reply);
      response.end();
    },
    { extensions: ['lines', 'stream'] },
  );
  const events = await collect(backend.archive.regenerate(call, 's-1', {}, 'chunks'));
  expect(events.map(({ event }) => event)).toEqual(['session', 'delta', 'done']);
  expect(events[0]?.data).toEqual({ session_id: 's-1', message_id: 'm-1', mode: 'calm' });
  expect(events.at(-1)?.data).toMatchObject({ message_id: 'm-2', reply: 'Hi.', mode: 'calm' });
  expect(server.requests[0]?.headers.accept).toContain('text/event-stream');
});

it('another reply as JSON has the mode that the server names', async () => {
  const { backend } = await meet(parley, { extensions: ['lines'] });
  const [begin, done] = await collect(backend.archive.regenerate(call, 's-1', {}, 'whole'));
  expect(begin?.data).toMatchObject({ session_id: 's-1', mode: 'calm' });
  expect(done?.data).toMatchObject({ reply: 'Hi.', mode: 'calm' });
});

it.each(Object.keys(operations).filter((name) => !name.startsWith('messages')))(
  '%s whose answer was lost is sent again with its key, where keys are honoured, and nowhere else',
  async (name) => {
    for (const honours of [true, false]) {
      const extensions = ['lines', ...(honours ? ['idempotency'] : [])];
      const { backend, server } = await meet(
        (request, response, count) => {
          if (count === 1) response.destroy();
          else parley(request, response, count);
        },
        { extensions },
      );
      const outcome = operations[name]?.(backend, call) ?? Promise.reject();
      if (honours) await outcome;
      else expect((await failureOf(outcome)).code).toBe('NETWORK');
      const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
      expect(keys).toEqual(honours ? ['key-1', 'key-1'] : ['key-1']);
    }
  },
);

it('a session with hidden messages is imported only by a server that stores them', async () => {
  const hidden_messages = [{ ...message, role: 'user' as const, finish_reason: null, undone_at: time }];
  const record = { session: { ...session, message_count: 0 }, messages: [], hidden_messages };
  const current = await meet(parley, { extensions: ['lines'] });
  await current.backend.archive.importSession(call, record);
  expect(JSON.parse(current.server.requests[0]?.body ?? '')).toEqual(record);
  const { backend, server } = await meet((_request, response) =>
    sendJson(response, { success: true, data: session }),
  );
  const failure = await failureOf(backend.archive.importSession(call, record));
  expect([failure.code, failure.message]).toEqual([
    'UNSUPPORTED',
    'This server cannot store replaced replies and undone turns.',
  ]);
  expect(server.requests.map(({ path }) => path)).toEqual(['/v1/models']);
});

it('the trace shows each request as a command, without the key', async () => {
  const lines: string[] = [];
  const trace = async (line: string) => void lines.push(line);
  const { backend, server } = await meet(parley, { extensions: ['lines'], trace });
  await backend.archive.forkSession(callWith('secret-key'), 's-1', { title: 'Two' });
  expect(lines[0]).toContain(`-X POST '${server.url}/v1/sessions/s-1/fork'`);
  expect(lines[0]).toContain(`--data-binary '{"title":"Two"}'`);
  expect(lines.join('\n')).not.toContain('secret-key');
});

it.each([
  ['a session without a message', 'undoTurn', { session }],
  ['a message of no role', 'redoTurn', { session, message: { ...message, role: 'system' } }],
  ['no session', 'undoTurn', { message }],
] as const)('%s is no answer to %s', async (_, operation, data) => {
  const { backend } = await meet(
    (_request, response) => {
      withLines(response);
      sendJson(response, { success: true, data });
    },
    { extensions: ['lines'] },
  );
  expect((await failureOf(backend.archive[operation](call, 's-1'))).code).toBe('BAD_RESPONSE');
});
