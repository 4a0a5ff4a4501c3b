// The settings of sessions at servers with, without, and with unknown support for them: nothing is dropped silently.
import { expect, it, onTestFinished } from 'vitest';
import type { RemoteOptions } from '../../src/remote/remote-options.ts';
import type { SessionRecord } from '../../src/service/session-archive.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { type ReceivedRequest, sendJson, serve } from '../support/scripted-server.ts';

const time = '2026-01-01T00:00:00.000Z';
const session = { session_id: 's-1', title: 'T', created_at: time, updated_at: time, message_count: 0 };
const settings = { system: 'Be brief.', parameters: { seed: 1 } };
const none = { system: null, parameters: {} };
const unknown = { mode: null, ...none, parent_id: null, forked_at: null };

/** A server whose responses name these extensions; null for a server that names none. */
async function meet(extensions: string | null, options: Partial<RemoteOptions> = {}) {
  const server = await serve(({ path }, response) => {
    if (extensions !== null) response.setHeader('Parley-Extensions', extensions);
    const reply = { session_id: 's-1', reply: 'Hi.' };
    sendJson(response, { success: true, data: { ...session, ...(path === '/v1/chat' && reply) } });
  });
  const { backend } = await openRemote(server.url, options);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const call = callWith('key', { idempotencyKey: 'k' });
  return {
    backend,
    call,
    requests: () => server.requests.map(requestOf),
    create: (start: object) => backend.service.createSession(call, { title: 'T', ...start }),
    change: (changes: object) => backend.archive.changeSession(call, 's-1', changes),
    chat: (start: object) =>
      collect(
        backend.service.chat(call, { mode: 'm', message: 'Hello', session_id: null, ...start }, 'whole'),
      ),
    importing: (fields: object) =>
      backend.archive.importSession(call, {
        session: { ...session, ...fields },
        messages: [],
      } as SessionRecord),
  };
}

const requestOf = ({ method, path, body }: ReceivedRequest) => [
  `${method} ${path}`,
  body && JSON.parse(body),
];
const models = ['GET /v1/models', ''];

it.each([
  ['names no extension', null],
  ['names others', 'archive, idempotency, stream'],
])(
  'a server that %s gets no settings, is asked once, and the error says what is lacking',
  async (_, named) => {
    const server = await meet(named);
    for (const work of [
      () => server.create(settings),
      () => server.chat({ system: 'Be brief.' }),
      () => server.chat({ parameters: { seed: 1 } }),
      () => server.change({ title: 'U', system: null }),
      () => server.change({ parameters: {} }),
      () => server.importing({ ...unknown, ...settings }),
      () => server.importing({ ...unknown, parent_id: 's-0', forked_at: 1 }),
    ]) {
      const failure = await failureOf(work());
      expect(failure.code).toBe('UNSUPPORTED');
      expect(failure.message).toMatch(
        /^This server cannot store settings of a session \((system|parameters|parent_id)/,
      );
    }
    expect(server.requests()).toEqual([models]);
  },
);

it('a server without settings gets every request that has none, without these fields', async () => {
  const server = await meet('archive');
  await server.create(none);
  await server.chat({ session_id: 's-1', ...none });
  await server.change({ title: 'U' });
  await server.importing({ ...unknown, mode: 'm' });
  expect(server.requests()).toEqual([
    ['POST /v1/sessions', { title: 'T' }],
    ['POST /v1/chat', { mode: 'm', message: 'Hello', session_id: 's-1' }],
    ['PATCH /v1/sessions/s-1', { title: 'U' }],
    ['POST /v1/sessions/import', { session, messages: [] }],
  ]);
});

it('a server with settings gets them, in one request if its extensions are known', async () => {
  const server = await meet('archive, settings', { extensions: ['archive', 'settings'] });
  await server.create(settings);
  await server.chat({ title: 'T', ...settings });
  await server.change({ system: null, parameters: {} });
  await server.importing({ ...unknown, ...settings });
  expect(server.requests()).toEqual([
    ['POST /v1/sessions', { title: 'T', ...settings }],
    ['POST /v1/chat', { mode: 'm', message: 'Hello', title: 'T', ...settings }],
    ['PATCH /v1/sessions/s-1', { system: null, parameters: {} }],
    ['POST /v1/sessions/import', { session: { ...session, ...unknown, ...settings }, messages: [] }],
  ]);
});

it('a server that got settings after its profile was stored is asked, and gets them', async () => {
  const server = await meet('archive, settings', { extensions: ['archive'] });
  await server.create(settings);
  await server.create(settings);
  const created = ['POST /v1/sessions', { title: 'T', ...settings }];
  expect(server.requests()).toEqual([models, created, created]);
});

it('a server whose extensions are not known is asked once by operations that run at the same time', async () => {
  const server = await meet('archive, settings');
  await Promise.all([server.create(settings), server.create(settings)]);
  const created = ['POST /v1/sessions', { title: 'T', ...settings }];
  expect(server.requests()).toEqual([models, created, created]);
});

it('a server with settings but without an archive gets those of a titled chat with the session', async () => {
  const server = await serve(({ path }, response) => {
    response.setHeader('Parley-Extensions', 'settings');
    const data =
      path === '/v1/models' ? ['m'] : path === '/v1/chat' ? { session_id: 's-1', reply: 'Hi.' } : session;
    sendJson(response, { success: true, data });
  });
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const request = { mode: 'm', message: 'Hello', session_id: null, title: 'T', ...settings };
  await collect(backend.service.chat(callWith('key'), request, 'whole'));
  expect(server.requests.map(requestOf).filter(([name]) => name !== models[0])).toEqual([
    ['POST /v1/sessions', { title: 'T', ...settings }],
    ['POST /v1/chat', { mode: 'm', message: 'Hello', session_id: 's-1' }],
  ]);
});

it('a session of a server without settings has none', async () => {
  const { backend, call } = await meet(null);
  expect((await backend.service.getSession(call, 's-1')).data).toMatchObject({ ...session, ...unknown });
});
