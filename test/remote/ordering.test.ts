// The ordering of sessions at remote servers: a server without it gets no such request, and works as before.
import { expect, it, onTestFinished } from 'vitest';
import { noOrdering } from '../../src/service/session.ts';
import { anySession, type SessionRecord } from '../../src/service/session-archive.ts';
import { callWith, failureOf } from '../support/calls.ts';
import { openRemote } from '../support/remote.ts';
import { sendJson, serve } from '../support/scripted-server.ts';

const time = '2026-01-01T00:00:00.000Z';
const session = { session_id: 's-1', title: 'T', created_at: time, updated_at: time, message_count: 0 };
const call = callWith('key', { idempotencyKey: 'k' });
const page = { limit: 5, cursor: null };

async function meet(extensions: string) {
  const server = await serve(({ path }, response) => {
    response.setHeader('Parley-Extensions', extensions);
    const isList = path.startsWith('/v1/sessions?') || path.startsWith('/v1/sessions/search');
    sendJson(response, { success: true, data: isList ? { items: [], next_cursor: null } : session });
  });
  const { backend } = await openRemote(server.url);
  onTestFinished(async () => {
    await backend.close();
    await server.close();
  });
  const requestLines = () => server.requests.map(({ method, path }) => `${method} ${path}`);
  return { backend, archive: backend.archive, requestLines, requests: server.requests };
}

it('a server without order gets no such request, and the error names the missing feature', async () => {
  const { archive, requestLines } = await meet('archive, settings');
  for (const work of [
    () => archive.pinSessions(call, ['s-1'], true),
    () => archive.archiveSessions(call, ['s-1'], false),
    () => archive.tagSessions(call, ['s-1'], { add: ['a'], remove: [] }),
    () => archive.changeSession(call, 's-1', { pinned: false }),
    () => archive.listSessions(call, { ...anySession, ...page, tag: 'a' }),
    () => archive.listSessions(call, { ...anySession, ...page, archived: true }),
    () => archive.searchSessions(call, { query: 'a', ...page, pinned: true }),
    () =>
      archive.importSession(call, { session: { ...session, tags: ['a'] }, messages: [] } as SessionRecord),
  ])
    expect(await failureOf(work())).toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringMatching(/^This server cannot (pin, archive or tag|filter) sessions/),
    });
  expect(requestLines()).toEqual(['GET /v1/models']);
});

it('a server without order lists and imports sessions as before, and its sessions are not ordered', async () => {
  const { backend, archive, requests } = await meet('archive, settings');
  expect((await backend.service.getSession(call, 's-1')).data).toMatchObject(noOrdering);
  await archive.listSessions(call, { ...anySession, ...page });
  await archive.listSessions(call, { ...anySession, ...page, archived: false });
  await archive.searchSessions(call, { query: 'a', ...page });
  await archive.importSession(call, {
    session: { ...session, ...noOrdering },
    messages: [],
  } as SessionRecord);
  expect(requests.slice(1).map(({ path, body }) => `${path} ${body}`)).toEqual([
    ...['/v1/sessions?limit=5&deleted=false ', '/v1/sessions?limit=5&deleted=false '],
    '/v1/sessions/search?q=a&limit=5 ',
    `/v1/sessions/import ${JSON.stringify({ session, messages: [] })}`,
  ]);
});

it('a server with order gets the conditions, without default values', async () => {
  const { archive, requestLines } = await meet('archive, order');
  await archive.listSessions(call, { ...anySession, ...page });
  await archive.listSessions(call, { ...anySession, ...page, archived: false, tag: 'ä', pinned: false });
  await archive.listSessions(call, { ...anySession, ...page, deleted: true });
  await archive.searchSessions(call, { query: 'a', ...page, archived: false });
  expect(requestLines()).toEqual([
    'GET /v1/models',
    'GET /v1/sessions?limit=5&deleted=false&archived=any',
    'GET /v1/sessions?limit=5&deleted=false&tag=%C3%A4&pinned=false',
    'GET /v1/sessions?limit=5&deleted=true',
    'GET /v1/sessions/search?q=a&limit=5&archived=false',
  ]);
});
