// Keys over time: one expires while it is used, over HTTP, embedded and in a stream; a daily budget starts again at midnight.
import { afterEach, expect, it } from 'vitest';
import { defaultServerLimits } from '../../src/server/server-limits.ts';
import { callWith, failureOf, say } from '../support/calls.ts';
import { heldEngine } from './held-engine.ts';
import { bodyOf, openServer, requestOf, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
afterEach(() => server.close());

const endsAt = Date.parse('2026-01-31T00:00:00.000Z');

async function endingKey() {
  const request = { project_name: 'first', key_name: 'short', expires_at: new Date(endsAt).toISOString() };
  return (await server.backend.administration.createKey(request)).key;
}

it('a key is valid up to the millisecond before its expiry, and invalid from then on, even if it was used before', async () => {
  let now = endsAt - 1000;
  server = await openServer({ now: () => now });
  const [used, fresh] = [await endingKey(), await endingKey()];
  const { service } = server.backend;
  const { session_id } = await say(service, callWith(used), 'hello');
  const ask = (key: string, method: string, path: string, body?: unknown) =>
    server.app.fetch(requestOf(key, method, path, { body }));
  const requests = [
    ['POST', '/v1/auth/verify'],
    ['GET', '/v1/models'],
    ['GET', '/v1/sessions'],
    ['GET', `/v1/sessions/${session_id}`],
    ['GET', `/v1/sessions/${session_id}/messages`],
    ['PATCH', `/v1/sessions/${session_id}`, { title: 'New' }],
    ['POST', '/v1/sessions/batch-tag', { session_ids: [session_id], add: ['a'] }],
    ['POST', '/v1/chat', { session_id, message: 'again', mode: 'echo' }],
    ['POST', `/v1/sessions/${session_id}/undo`],
  ] as const;
  now = endsAt - 1;
  for (const [method, path, body] of requests)
    expect([path, (await ask(used, method, path, body)).status]).toEqual([path, 200]);
  const before = (await service.getSession(callWith(server.key), session_id)).data;
  now = endsAt;
  const unknown = await bodyOf(await ask(`pk_${'0'.repeat(33)}`, 'GET', '/v1/models'));
  expect(unknown.error).toMatchObject({ message: 'The API key is invalid, expired or revoked.' });
  for (const key of [used, fresh])
    for (const [method, path, body] of requests) {
      const answer = await ask(key, method, path, body);
      expect([path, answer.status]).toEqual([path, 401]);
      expect((await bodyOf(answer)).error).toEqual(unknown.error);
    }
  expect((await failureOf(service.getSession(callWith(used), session_id))).code).toBe('INVALID_API_KEY');
  expect((await failureOf(say(service, callWith(fresh), 'hello'))).code).toBe('INVALID_API_KEY');
  expect((await service.getSession(callWith(server.key), session_id)).data).toEqual(before);
});

it('a stream whose key expires is stopped, and the received part of the reply is stored', async () => {
  let now = endsAt - 1000;
  const engine = heldEngine();
  server = await openServer({
    now: () => now,
    engines: engine.engines,
    serverLimits: { ...defaultServerLimits, keyCheckMs: 20 },
  });
  const key = await endingKey();
  const headers = { accept: 'text/event-stream' };
  const body = { message: 'hello', mode: 'test' };
  const answer = await server.app.fetch(requestOf(key, 'POST', '/v1/chat', { headers, body }));
  expect(answer.status).toBe(200);
  const text = answer.text();
  now = endsAt;
  expect(await text).toContain('INVALID_API_KEY');
  expect(await text).toContain('half ');
  expect(await text).not.toContain('event: done');
  const [session] = (await bodyOf(await server.ask('GET', '/v1/sessions'))).data.items;
  const { items } = (await bodyOf(await server.ask('GET', `/v1/sessions/${session.session_id}/messages`)))
    .data;
  expect(items).toMatchObject([{ content: 'hello' }, { content: 'half ', finish_reason: 'interrupted' }]);
});

it('a budget starts again at midnight UTC, but not when the clock is set back', async () => {
  let now = endsAt - 1;
  server = await openServer({ now: () => now });
  const request = { project_name: 'first', key_name: 'thrifty', turns_per_day: 1 };
  const call = callWith((await server.backend.administration.createKey(request)).key);
  const isRefused = async () => {
    const error = await failureOf(say(server.backend.service, call, 'hello'));
    expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', retryAfter: expect.any(Number) });
    return error.retryAfter;
  };
  await say(server.backend.service, call, 'hello');
  expect(await isRefused()).toBe(1);
  now = endsAt;
  await say(server.backend.service, call, 'hello');
  expect(await isRefused()).toBe(86_400);
  now = endsAt - 1;
  expect(await isRefused()).toBe(1);
  now = endsAt + 5;
  await isRefused();
});
