// How often the key of a request is looked up in the store: once, and at every request anew, so that a revocation holds from the next on.
import { afterEach, expect, test } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { type Operation, routes } from '../../src/wire/routes.ts';
import { openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
afterEach(() => server.close());

const bodies: Partial<Record<Operation, object>> = {
  chat: { mode: 'echo', message: 'hi' },
  createSession: {},
  renameSession: { title: 'new' },
  deleteSessions: { session_ids: ['ses_x'] },
  restoreSessions: { session_ids: ['ses_x'] },
};

/** That is what it asks for. */
const twice: readonly Operation[] = ['verify'];

test('each operation looks its key up once, and none is answered after the key was revoked', async () => {
  let looks = 0;
  const around = (store: SessionStore) =>
    new Proxy(store, {
      get(target, name: keyof SessionStore) {
        if (name === 'findKey') looks += 1;
        const member = target[name] as (...values: unknown[]) => unknown;
        return member.bind(target);
      },
    });
  // The keys of running replies are looked at again, later than this lasts.
  server = await openServer({ around, serverLimits: { keyCheckMs: 60_000 } });
  const { administration } = server.backend;
  const { key, key_id } = await administration.createKey({ project_name: 'first', key_name: 'short' });
  const ask = async (name: Operation) => {
    const { method, path } = routes[name];
    const body = method === 'POST' || method === 'PATCH' ? { body: bodies[name] ?? {} } : {};
    const headers = { authorization: `Bearer ${key}` };
    const query = name === 'searchSessions' ? '?q=hi' : '';
    looks = 0;
    const { status } = await server.ask(method, `${path.replace(':id', 'ses_x')}${query}`, {
      headers,
      ...body,
    });
    return { name, looks, isRefused: status === 401 };
  };
  const names = Object.keys(routes) as Operation[];
  for (const name of [...names, ...names])
    expect(await ask(name)).toEqual({ name, looks: twice.includes(name) ? 2 : 1, isRefused: false });
  await administration.revokeKey(key_id);
  for (const name of names) expect(await ask(name)).toEqual({ name, looks: 1, isRefused: true });
});
