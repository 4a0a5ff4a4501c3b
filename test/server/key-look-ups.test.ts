// The look-ups of a request's key in the store: one per request, separately or within the operation, so that a revocation takes effect with the
// next request.
import { afterEach, expect, test } from 'vitest';
import type { SessionStore, TurnStart } from '../../src/store/session-store.ts';
import { type Operation, routes } from '../../src/wire/routes.ts';
import { openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
afterEach(() => server.close());

const bodies: Partial<Record<Operation, object>> = {
  chat: { mode: 'echo', message: 'hi' },
  createSession: {},
  changeSession: { title: 'new' },
  deleteSessions: { session_ids: ['ses_x'] },
  restoreSessions: { session_ids: ['ses_x'] },
};

test('each operation looks its key up once, and none succeeds after the key was revoked', async () => {
  let looks = 0;
  const around = (store: SessionStore) =>
    new Proxy(store, {
      get(target, name: keyof SessionStore) {
        if (name === 'budgets' || name === 'audit') return target[name];
        const member = target[name] as (...values: unknown[]) => unknown;
        return (...values: unknown[]) => {
          if (name === 'findKey' || keyHashOf(name, values) !== null) looks += 1;
          return member.apply(target, values);
        };
      },
    });
  // The keys of running replies are checked again only after the end of this test.
  server = await openServer({ around, serverLimits: { keyCheckMs: 60_000 } });
  const { administration } = server.backend;
  const { key, key_id } = await administration.createKey({ project_name: 'first', key_name: 'short' });
  const ask = async (name: Operation) => {
    const { method, path } = routes[name];
    const body = method === 'POST' || method === 'PATCH' ? { body: bodies[name] ?? {} } : {};
    const length = 'body' in body ? { 'content-length': `${JSON.stringify(body.body).length}` } : {};
    const headers = { authorization: `Bearer ${key}`, ...length };
    const query = name === 'searchSessions' ? '?q=hi' : '';
    looks = 0;
    const { status } = await server.ask(method, `${path.replace(':id', 'ses_x')}${query}`, {
      headers,
      ...body,
    });
    return { name, looks, isRefused: status === 401 };
  };
  const names = Object.keys(routes) as Operation[];
  await ask('verify');
  // A search and a deletion look the key up in their own statements.
  const looksOf = (name: Operation) => (['searchSessions', 'deleteSession'].includes(name) ? 0 : 1);
  for (const name of names) expect(await ask(name)).toEqual({ name, looks: looksOf(name), isRefused: false });
  await administration.revokeKey(key_id);
  for (const name of names) expect(await ask(name)).toEqual({ name, looks: looksOf(name), isRefused: true });
});

/** The key that an operation of a store checks itself. */
function keyHashOf(name: keyof SessionStore, values: readonly unknown[]): unknown {
  if (name === 'findSession') return values[2] ?? null;
  if (name === 'createSession') return values[3] ?? null;
  return name === 'beginTurn' ? ((values[1] as TurnStart).keyHash ?? null) : null;
}
