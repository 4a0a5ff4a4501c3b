// The routes that need no key, and what their failures may not reveal.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ParleyError } from '../../src/service/errors.ts';
import { storeError } from '../../src/store/postgres/postgres-errors.ts';
import { checkedResponse } from './conformance.ts';
import { type AskInit, openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
beforeEach(async () => {
  server = await openServer();
});
afterEach(() => server.close());

function ask(method: string, path: string, init?: AskInit) {
  return checkedResponse(server, method, path, init);
}

describe('routes without a key', () => {
  const open = { headers: { authorization: '' } };

  test('the root redirects to the page of the API', async () => {
    const response = await server.app.fetch(new Request('http://localhost/'));
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });

  test('healthz and readyz respond in the envelope', async () => {
    for (const path of ['/healthz', '/readyz']) {
      expect((await ask('GET', path, open)).body).toMatchObject({ success: true });
    }
  });

  test('readyz fails while the store cannot be read, and healthz does not', async () => {
    await server.close();
    server = await openServer({ ready: () => Promise.reject(new Error('/secret/path is broken')) });
    const answer = await server.ask('GET', '/readyz', open);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret');
    expect((await ask('GET', '/healthz', open)).status).toBe(200);
  });

  test('no response names the address of an unreachable database, with a key or without', async () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' });
    const away = () => Promise.reject(storeError(refused, 'postgres://db.internal:5432/secret'));
    await server.close();
    server = await openServer({ ready: away, around: (store) => Object.assign(store, { findKey: away }) });
    const bodies = [];
    for (const path of ['/readyz', '/v1/models', '/v1/sessions'])
      bodies.push(await server.ask('GET', path, path === '/readyz' ? open : {}));
    bodies.push(await server.ask('POST', '/v1/chat', { body: { mode: 'echo', message: 'hi' } }));
    for (const answer of bodies) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      const text = await answer.text();
      expect(text).toContain('The store of the server cannot do this at the moment.');
      expect(text).not.toMatch(/internal:|secret|10\.1\.2\.3|postgres/);
    }
    expect(JSON.stringify(server.log())).toContain('10.1.2.3:5432');
  });

  test('no response names the address of a database that is refused since the server has started', async () => {
    const unsafe = new ParleyError('STORE_UNSAFE', 'The database postgres://db.internal/x has fsync off.');
    const { message, hint } = unsafe;
    const refused = new ParleyError('UNAVAILABLE', message, { hint, retryAfter: 1, cause: unsafe });
    await server.close();
    server = await openServer({ ready: () => Promise.reject(refused) });
    const answer = await server.ask('GET', '/readyz', open);
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toMatch(/internal|postgres|fsync/);
    expect(JSON.stringify(server.log())).toContain('db.internal');
  });

  test('HEAD responds as GET does, without a body', async () => {
    const response = await server.ask('HEAD', '/v1/models');
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});
