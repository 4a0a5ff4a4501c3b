// The user of sessions at remote servers: a server without users gets none, and the error names the missing feature.
import { expect, it, onTestFinished } from 'vitest';
import { anySession, type SessionRecord } from '../../src/service/session-archive.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

const time = '2026-01-01T00:00:00.000Z';
const session = { session_id: 's-1', title: 'T', created_at: time, updated_at: time, message_count: 0 };
const call = callWith('key', { idempotencyKey: 'k' });
const page = { limit: 5, cursor: null };
const chat = { mode: 'echo', message: 'hi', session_id: null };

async function meet(extensions: string) {
  const server = await serve(({ path }, response) => {
    response.setHeader('Parley-Extensions', extensions);
    const isList = path.startsWith('/v1/sessions?');
    const data = path === '/v1/chat' ? { ...session, reply: 'hi', message_id: 'm' } : session;
    sendJson(response, { success: true, data: isList ? { items: [], next_cursor: null } : data });
  });
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const requests = () => server.requests.slice(1).map(({ path, body }) => `${path} ${body}`);
  return { ...backend, requests };
}

const recordOf = (fields: object, replaced: object | null = null): SessionRecord => ({
  session: { ...session, ...fields },
  messages: [],
  ...(replaced && { replaces: { session: { ...session, ...replaced } } }),
});

it('a server without users gets no such request', async () => {
  const { service, archive, requests } = await meet('archive, settings, order, sync');
  for (const work of [
    () => service.createSession(call, { title: null, user: 'u' }),
    () => collect(service.chat(call, { ...chat, user: 'u' }, 'whole')),
    () => collect(service.chat(call, { ...chat, session_id: 's-1', user: 'u' }, 'whole')),
    () => archive.listSessions(call, { ...anySession, ...page, user: 'u' }),
    () => archive.searchSessions(call, { query: 'a', ...page, user: 'u' }),
    () => archive.importSession(call, recordOf({ user: 'u' })),
  ])
    expect(await failureOf(work())).toMatchObject({
      ...{ code: 'UNSUPPORTED', message: 'This server cannot store the user of a session.' },
    });
  expect(requests()).toEqual([]);
  expect((await service.getSession(call, 's-1')).data.user).toBeNull();
});

it('it imports sessions without a user as before, even as a replacement', async () => {
  const { service, archive, requests } = await meet('archive, settings, order, sync');
  await service.getSession(call, 's-1');
  await service.createSession(call, { title: 'T', user: null });
  await archive.importSession(call, recordOf({ user: null }, { user: null }));
  expect(requests()).toEqual([
    '/v1/sessions {"title":"T"}',
    `/v1/sessions/import ${JSON.stringify({ session, messages: [], replaces: { session } })}`,
  ]);
});

it('a server with users gets them', async () => {
  const { service, archive, requests } = await meet('archive, settings, order, users');
  await service.createSession(call, { title: null, user: 'ü' });
  await collect(service.chat(call, { ...chat, user: 'ü' }, 'whole'));
  await archive.listSessions(call, { ...anySession, ...page, archived: false, user: 'ü' });
  await archive.importSession(call, recordOf({ user: 'ü' }));
  expect(requests()).toEqual([
    '/v1/sessions {"user":"ü"}',
    '/v1/chat {"mode":"echo","message":"hi","user":"ü"}',
    '/v1/sessions?limit=5&deleted=false&user=%C3%BC ',
    `/v1/sessions/import ${JSON.stringify({ session: { ...session, user: 'ü' }, messages: [] })}`,
  ]);
});
