// The log of the requests: what it contains, and what it must not contain.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedResponse } from './conformance.ts';
import { type AskInit, bodyOf, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
beforeEach(async () => {
  server = await openServer();
});
afterEach(() => server.close());

function ask(method: string, path: string, init?: AskInit) {
  return checkedResponse(server, method, path, init);
}

describe('the log', () => {
  test('the time that a request takes does not depend on the time of day', async () => {
    let time = Date.now();
    const other = await openServer({ now: () => (time -= 60_000) });
    try {
      await other.ask('GET', '/v1/sessions');
      const [{ ms } = {}] = other.log();
      expect(ms).toBeGreaterThanOrEqual(0);
    } finally {
      await other.close();
    }
  });

  test('a request is logged with its id, method, path, status and time, without query, body or key', async () => {
    const { headers } = await ask('GET', '/v1/sessions?title_match=secret-word');
    await ask('POST', '/v1/chat', { body: { mode: 'echo', message: 'secret-word' } });
    await server.ask('GET', `/v1/sessions/${server.key}`);
    await server.ask('GET', '/v1/sessions/a-token-of-another-form', {
      headers: { authorization: 'Bearer a-token-of-another-form' },
    });
    const [line] = server.log();
    expect(line).toMatchObject({
      level: 'info',
      request_id: headers.get('parley-request-id'),
      method: 'GET',
      path: '/v1/sessions',
      status: 200,
      ms: expect.any(Number),
    });
    const text = JSON.stringify(server.log());
    expect(server.log()).toHaveLength(4);
    expect(text).toContain('/v1/sessions/[key]');
    for (const secret of ['secret-word', server.key, 'a-token-of-another-form'])
      expect(text).not.toContain(secret);
  });

  test('an unexpected failure is in the log under its request id, and not in the response', async () => {
    await server.backend.close();
    const response = await server.ask('GET', '/v1/models');
    expect(response.status).toBe(503);
    await server.close();
    server = await openServer({ ready: () => Promise.reject(new TypeError('a bug in /home/x.ts')) });
    const failed = await bodyOf(await server.ask('GET', '/readyz'));
    expect(failed.error?.code).toBe('INTERNAL_ERROR');
    expect(JSON.stringify(failed)).not.toContain('bug');
    const [line] = server.log();
    expect(line).toMatchObject({ level: 'error', request_id: failed.request_id });
    expect(JSON.stringify(line)).toContain('a bug in');
  });
});
