// A client that disconnects while the store saves its message: the turn ends, and the session is free for the next one.
import { afterEach, expect, test } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { openServer, type ServerFixture } from './server-fixture.ts';

let server: ServerFixture;
afterEach(() => server.close());

test.each([
  ['a stream', { accept: 'text/event-stream' }],
  ['a whole answer', {}],
])(
  'a client that disconnects while its message is stored, and requested %s, leaves the session free',
  async (_, headers) => {
    const leaving = new AbortController();
    // The commit is under way on another machine when the client goes.
    const around = (store: SessionStore) =>
      new Proxy(store, {
        get(target, name: keyof SessionStore) {
          const member = target[name];
          if (name !== 'beginTurn') return typeof member === 'function' ? member.bind(target) : member;
          return async (...given: Parameters<SessionStore['beginTurn']>) => {
            const [projectId, start] = given;
            const begun = await target.beginTurn(projectId, start);
            leaving.abort();
            return begun;
          };
        },
      });
    server = await openServer({ around, limits: { turnWaitMs: 2000 } });
    const created = await (await server.ask('POST', '/v1/sessions', { body: {} })).json();
    const body = { mode: 'echo', message: 'hello', session_id: created.data.session_id };
    const left = await server.ask('POST', '/v1/chat', { headers, body, signal: leaving.signal });
    // As the listener does for a connection that is gone.
    await left.body?.cancel();
    const next = await server.ask('POST', '/v1/chat', { body });
    expect([next.status, (await next.json()).data?.message_count]).toEqual([200, 4]);
  },
);
