// Servers of the interface document by other authors: each fills the gaps of the document in its own way, and Parley understands them all.
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RemoteOptions } from '../../src/remote/remote-options.ts';
import { anySession } from '../../src/service/session-archive.ts';
import { callWith, collect, failureOf, say } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { type ReceivedRequest, sendJson, serve } from '../support/scripted-server.ts';

const key = 'server-key';

/** The responses of a server by method and path; `:id` stands for the session. */
type Answers = Readonly<Record<string, (request: ReceivedRequest, response: ServerResponse) => unknown>>;

interface ThirdPartyServer {
  readonly answers: Answers;
  readonly options?: Partial<RemoteOptions>;
  /** The expected names of the modes, reply to "Hello", and session of that reply. */
  readonly modes: readonly string[];
  readonly reply: string;
  readonly session: string;
}

const json =
  (value: unknown, status = 200) =>
  (_request: ReceivedRequest, response: ServerResponse) =>
    sendJson(response, value, status);

const session = { session_id: 's-1', title: 'T', created_at: '2026-01-01T00:00:00.000Z', message_count: 0 };
const notFound = json(
  { success: false, error: { code: 'SESSION_NOT_FOUND', message: 'No such session' } },
  404,
);

const servers: Readonly<Record<string, ThirdPartyServer>> = {
  'lists modes as bare strings, and replies in data.response': {
    answers: {
      'POST /v1/auth/verify': json({
        success: true,
        data: { project: { id: 7, name: 'Blue' }, valid: true },
      }),
      'GET /v1/models': json({ success: true, data: ['fast', 'deep'] }),
      'POST /v1/chat': json({ success: true, data: { session_id: 's-1', response: 'Hi.' } }),
      'POST /v1/sessions': json({ success: true, data: session }, 201),
      'GET /v1/sessions/:id': json({ success: true, data: session }),
      'DELETE /v1/sessions/:id': json({ success: true }),
    },
    modes: ['fast', 'deep'],
    reply: 'Hi.',
    session: 's-1',
  },
  'puts everything at the top, ids too': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, project: 'Blue' }),
      'GET /v1/models': json({ success: true, models: [{ id: 'fast', context: 8192 }] }),
      'POST /v1/chat': json({ success: true, session_id: 'top/1', answer: 'Hi.', tokens: 3 }),
      'POST /v1/sessions': json({ success: true, data: { ...session, session_id: 'top/1' } }),
      'GET /v1/sessions/:id': json({ success: true, ...session, session_id: 'top/1' }),
      'DELETE /v1/sessions/:id': (_request, response) => response.writeHead(204).end(),
    },
    modes: ['fast'],
    reply: 'Hi.',
    session: 'top/1',
  },
  'nests modes in data.modes, the session in data.session, and the message as a role and its content': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, data: {} }),
      'GET /v1/models': json({ success: true, data: { modes: [{ mode: 'calm', label: 'Calm' }] } }),
      'POST /v1/chat': json({
        success: true,
        data: { session: { id: '42' }, message: { role: 'assistant', content: 'Hi.' } },
      }),
      'POST /v1/sessions': json({ success: true, data: { ...session, session_id: '42', owner: 'me' } }),
      'GET /v1/sessions/:id': json({ success: true, data: { session: { id: '42', state: 'active' } } }),
      'DELETE /v1/sessions/:id': (_request, response) => response.writeHead(200).end(),
    },
    modes: ['calm'],
    reply: 'Hi.',
    session: '42',
  },
  'keeps its reply where only a pointer finds it': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, data: null }),
      'GET /v1/models': json({ success: true, data: { models: [{ name: 'm' }] } }),
      'POST /v1/chat': json({
        success: true,
        data: { session_id: 's-1', message: 'queued', choices: [{ parts: ['Hi.'] }] },
      }),
      'POST /v1/sessions': json({ success: true, data: session }),
      'GET /v1/sessions/:id': json({ success: true, data: session }),
      'DELETE /v1/sessions/:id': json({ success: true, data: { status: 'archived' } }),
    },
    options: { replyPointer: '/data/choices/0/parts/0' },
    modes: ['m'],
    reply: 'Hi.',
    session: 's-1',
  },
  'is slow, and sends its JSON in chunks as plain text': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, data: { id: 'k' } }),
      'GET /v1/models': json({ success: true, modes: ['slow'] }),
      'POST /v1/chat': async (_request, response) => {
        await delay(60);
        response.writeHead(200, { 'content-type': 'text/plain' });
        for (const unit of Buffer.from('{"success":true,"data":{"session_id":"s-1","text":"Hé 😀"}}')) {
          response.write(Buffer.from([unit]));
          if (unit > 127) await delay(1);
        }
        response.end();
      },
      'POST /v1/sessions': json({ success: true, data: session }),
      'GET /v1/sessions/:id': json({ success: true, data: session }),
      'DELETE /v1/sessions/:id': json({ success: true }),
    },
    modes: ['slow'],
    reply: 'Hé 😀',
    session: 's-1',
  },
  'has ids with signs of their own, and data that is the reply': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, data: ['a', 'b'] }),
      'GET /v1/models': json({ success: true, data: { models: [{ name: 'x', default: true }] } }),
      'POST /v1/chat': json({ success: true, data: 'Hi.', session_id: 'urn:ses/é?#%41&😀' }),
      'POST /v1/sessions': json({ success: true, data: { ...session, session_id: 'urn:ses/é?#%41&😀' } }),
      'GET /v1/sessions/:id': json({ success: true, data: { ...session, session_id: 'urn:ses/é?#%41&😀' } }),
      'DELETE /v1/sessions/:id': json({ success: true }),
    },
    modes: ['x'],
    reply: 'Hi.',
    session: 'urn:ses/é?#%41&😀',
  },
  'streams without a word on the session before the end': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, data: {} }),
      'GET /v1/models': json({ success: true, data: ['x'] }),
      'POST /v1/chat': (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
        response.write(': welcome\r\n\r\nevent: ping\r\ndata\r\n\r\n');
        for (const text of ['H', 'i', '.']) {
          response.write(
            `id: 1\r\nevent: delta\r\ndata: ${JSON.stringify({ success: true, data: { text } })}\r\n\r\n`,
          );
        }
        response.end('event: done\r\ndata: {"success":true,\r\ndata: "data":{"session_id":"s-1"}}\r\n\r\n');
      },
      'POST /v1/sessions': json({ success: true, data: session }),
      'GET /v1/sessions/:id': json({ success: true, data: session }),
      'DELETE /v1/sessions/:id': json({ success: true }),
    },
    modes: ['x'],
    reply: 'Hi.',
    session: 's-1',
  },
  'adds fields everywhere, huge and odd ones': {
    answers: {
      'POST /v1/auth/verify': json({ success: true, meta: { a: [1, { b: null }] }, data: { tier: 'gold' } }),
      'GET /v1/models': json({
        success: true,
        data: [{ name: 'x', model: 5, default: 'yes', pad: 'p'.repeat(9000) }],
      }),
      'POST /v1/chat': json({
        success: true,
        trace: 'x'.repeat(200_000),
        data: { session_id: 's-1', reply: 'Hi.', usage: 'much', finish_reason: 12, message_count: '2' },
      }),
      'POST /v1/sessions': json({ success: true, data: { ...session, tags: [], parent: null } }),
      'GET /v1/sessions/:id': json({ success: true, data: { ...session, tags: [] } }),
      'DELETE /v1/sessions/:id': json({ success: true, data: { ok: 1 } }),
    },
    modes: ['x'],
    reply: 'Hi.',
    session: 's-1',
  },
};

async function meet(answers: Answers, options: Partial<RemoteOptions> = {}) {
  const server = await serve((request, response) => {
    if (request.headers.authorization !== `Bearer ${key}`)
      return json({ success: false }, 401)(request, response);
    const path = request.path.replace(/^\/prefix/, '').replace(/^\/v1\/sessions\/.+/, '/v1/sessions/:id');
    return (answers[`${request.method} ${path}`] ?? notFound)(request, response);
  });
  const { backend, waits } = await openRemote(`${server.url}/prefix`, options);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  return { backend, server, waits, call: callWith(key) };
}

describe.each(Object.entries(servers))('a server that %s', (_, script) => {
  it('supports all six operations', async () => {
    const { backend, server, call } = await meet(script.answers, script.options);
    expect((await backend.service.verify(call)).body).toMatchObject({ success: true });
    expect((await backend.service.models(call)).data.map(({ name }) => name)).toEqual(script.modes);
    const created = await backend.service.createSession(call, { title: 'T' });
    expect(created.data).toMatchObject({ session_id: script.session, message_count: 0 });

    const request = { mode: 'm', message: 'Hello', session_id: null };
    const events = await collect(backend.service.chat(call, request, 'chunks'));
    const starts = events.filter(({ event }) => event === 'session');
    expect(starts.map(({ data }) => data)).toMatchObject([{ session_id: script.session }]);
    const done = events.at(-1);
    if (done?.event !== 'done') throw new Error('not done');
    expect(done.data).toMatchObject({
      session_id: script.session,
      reply: script.reply,
      finish_reason: 'stop',
    });
    const shown = events.flatMap((event) => (event.event === 'delta' ? [event.data.text] : [])).join('');
    expect(['', script.reply]).toContain(shown);

    await say(backend.service, call, 'Again', done.data.session_id, 'm');
    expect((await backend.service.getSession(call, script.session)).data.session_id).toBe(script.session);
    expect((await backend.service.deleteSession(call, script.session)).data.session_id).toBe(script.session);

    const segment = encodeURIComponent(script.session);
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /prefix/v1/auth/verify',
      'GET /prefix/v1/models',
      'POST /prefix/v1/sessions',
      'POST /prefix/v1/chat',
      'POST /prefix/v1/chat',
      `GET /prefix/v1/sessions/${segment}`,
      `DELETE /prefix/v1/sessions/${segment}`,
    ]);
    const bodies = server.requests.map(({ body }) => (body === '' ? null : JSON.parse(body)));
    expect(bodies).toEqual([
      null,
      null,
      { title: 'T' },
      { mode: 'm', message: 'Hello' },
      { mode: 'm', message: 'Again', session_id: script.session },
      null,
      null,
    ]);
  });

  it('has its bodies returned unchanged', async () => {
    const { backend, call } = await meet(script.answers, script.options);
    const raw = async (operation: string) => {
      const answer = await meet(script.answers);
      const [method = '', path = ''] = operation.split(' ');
      const url = `${answer.server.url}${path.replace(':id', 'x')}`;
      return (await fetch(url, { method, headers: { authorization: `Bearer ${key}` } })).json();
    };
    expect((await backend.service.verify(call)).body).toEqual(await raw('POST /v1/auth/verify'));
    expect((await backend.service.models(call)).body).toEqual(await raw('GET /v1/models'));
    expect((await backend.service.getSession(call, script.session)).body).toEqual(
      await raw('GET /v1/sessions/:id'),
    );
  });

  it('refuses an invalid key', async () => {
    const { backend } = await meet(script.answers, script.options);
    const wrong = callWith('other');
    for (const work of [
      () => backend.service.verify(wrong),
      () => say(backend.service, wrong, 'x'),
      () => backend.archive.restoreSession(wrong, 'x'),
    ]) {
      expect((await failureOf(work())).code).toBe('INVALID_API_KEY');
    }
  });

  it('has no archive, and says so', async () => {
    // A server without a search reads the word as an id.
    const noSuchId = { success: false, error: { code: 'SESSION_NOT_FOUND', message: 'No such session.' } };
    const { backend, call } = await meet({
      ...script.answers,
      'GET /v1/sessions': json({}, 405),
      'GET /v1/sessions/:id': json(noSuchId, 404),
    });
    const query = {
      ...anySession,
      limit: 5,
      cursor: null,
    };
    const time = '2024-05-01T12:00:00.000Z';
    const session = { session_id: 's', title: null, created_at: time, updated_at: time, message_count: 0 };
    for (const work of [
      () => backend.archive.listSessions(call, query),
      () => backend.archive.deleteSessions(call, ['a']),
      () => backend.archive.searchSessions(call, { query: 'a', limit: 5, cursor: null }),
      () => backend.archive.importSession(call, { session, messages: [] }),
    ]) {
      const failure = await failureOf(work());
      expect(failure.code).toBe('UNSUPPORTED');
      expect(failure.message).toContain('basic API');
    }
  });
});

describe('a server with its own form of errors', () => {
  it.each<[string, number, unknown, string, string]>([
    [
      'with status 200',
      200,
      { success: false, error: { code: 'UNKNOWN_MODE', message: 'No.' } },
      'UNKNOWN_MODE',
      'No.',
    ],
    [
      'with status 200 and a code of its own',
      200,
      { success: false, code: 'E17', message: 'No.' },
      'BAD_RESPONSE',
      'No. [E17]',
    ],
    ['in a text', 409, { success: false, error: 'already chatting' }, 'SESSION_BUSY', 'already chatting'],
    [
      'as a framework does',
      422,
      { success: false, message: 'mode: field required' },
      'INVALID_REQUEST',
      'mode: field required',
    ],
    ['with no word', 500, { success: false }, 'INTERNAL_ERROR', 'failed with status 500'],
    ['with a code alone', 507, { success: false, code: 'DISK' }, 'STORAGE_FULL', 'DISK'],
  ])('%s is understood', async (_, status, body, code, words) => {
    const { backend, call } = await meet({ 'POST /v1/chat': json(body, status) });
    const failure = await failureOf(say(backend.service, call, 'x'));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(words);
    expect(failure.body).toEqual(body);
  });

  it.each([
    ['no reply', { success: true, data: { session_id: 's-1', state: 'queued' } }],
    ['an empty reply', { success: true, data: { session_id: 's-1', reply: '' } }],
  ])('a chat answered with %s is no success, and its body is kept', async (_, body) => {
    const { backend, call } = await meet({ 'POST /v1/chat': json(body) });
    const failure = await failureOf(say(backend.service, call, 'x'));
    expect(failure).toMatchObject({ code: 'BAD_RESPONSE', session_id: 's-1', body });
    expect(failure.remedy).toEqual({ kind: 'name_reply_pointer' });
  });

  it('a reply that is not at the pointer is not searched elsewhere', async () => {
    const body = { success: true, data: { session_id: 's-1', reply: 'guess' } };
    const { backend, call } = await meet({ 'POST /v1/chat': json(body) }, { replyPointer: '/data/text' });
    expect((await failureOf(say(backend.service, call, 'x'))).message).toContain('reply_pointer');
  });

  it('a new chat without a session in the response cannot continue', async () => {
    const { backend, call } = await meet({
      'POST /v1/chat': json({ success: true, data: { reply: 'Hi.' } }),
    });
    expect((await failureOf(say(backend.service, call, 'x'))).code).toBe('BAD_RESPONSE');
    expect((await say(backend.service, call, 'x', 's-9')).session_id).toBe('s-9');
  });

  it('a created session without an id, or an invalid list of modes, is a bad response', async () => {
    const { backend, call } = await meet({
      'POST /v1/sessions': json({ success: true, data: { title: 'T' } }),
      'GET /v1/models': json({ success: true, data: { count: 3 } }),
      'GET /v1/sessions/:id': json({ success: true }),
    });
    const works = [
      () => backend.service.createSession(call, { title: null }),
      () => backend.service.models(call),
      () => backend.service.getSession(call, 'x'),
    ];
    for (const work of works) expect((await failureOf(work())).code).toBe('BAD_RESPONSE');
  });
});

describe('administration', () => {
  it('does not exist for a remote server, and nothing is sent', async () => {
    const { backend, server } = await meet({});
    expect(backend.administration).toBeNull();
    expect(server.requests).toEqual([]);
  });
});

describe('a session id that no path can name', () => {
  it.each(['', '.', '..', 'a\ud800'])('is not found, without a request: %j', async (id) => {
    const { backend, server, call } = await meet({});
    expect((await failureOf(backend.service.deleteSession(call, id))).code).toBe('SESSION_NOT_FOUND');
    expect((await failureOf(backend.service.getSession(call, id))).code).toBe('SESSION_NOT_FOUND');
    expect(server.requests).toEqual([]);
  });
});
