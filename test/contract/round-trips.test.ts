// The round trips of a request with a known key to the database. Each of them adds the latency of the network.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { type CountingProxy, countRoundTrips } from '../support/counting-proxy.ts';
import { engineOf, finish } from '../support/embedded.ts';
import type { PostgresDatabase } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

let database: PostgresDatabase;
let proxy: CountingProxy;
let server: ServerFixture;
let url: string;

beforeAll(async () => {
  database = await sharedPostgres();
  proxy = await countRoundTrips(database.port);
  const openStore = async () => {
    const { port } = proxy;
    return (await openPostgresStore(postgresOptions({ ...database, port }, { connections: 1 }))).store;
  };
  const { modes, engine } = engineOf(async function* () {
    yield { type: 'text', text: 'Hello' };
    yield finish;
  });
  const engines = {
    modes,
    engine(name: string) {
      const found = engine(name);
      return found && { ...found, contextTokens: 10_000 };
    },
  };
  // The keys of running replies are checked again only after the turns of this test have ended.
  server = await openServer({ openStore, engines, serverLimits: { keyCheckMs: 60_000 } });
  ({ url } = await server.listen());
  await ask('POST', '/v1/auth/verify', {});
  // The audit log of the new keys is chained a second later, unless it is read before.
  await server.backend.administration.verifyAudit(null);
}, 60_000);

afterAll(async () => {
  await server.close();
  await proxy.close();
});

async function ask(method: string, path: string, body?: object, key: string | null = null) {
  const before = proxy.roundTrips();
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${server.key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== null && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { data } = (await response.json()) as { data: { session_id: string } };
  return { status: response.status, data, roundTrips: proxy.roundTrips() - before };
}

test('a session is created in one round trip, also with an idempotency key, and read in one', async () => {
  // The first call with an idempotency key in a minute also deletes old keys.
  await ask('POST', '/v1/sessions', {}, 'before');
  for (const key of [null, 'key']) {
    const made = await ask('POST', '/v1/sessions', { title: 'new' }, key);
    expect([made.status, made.roundTrips]).toEqual([200, 1]);
    const found = await ask('GET', `/v1/sessions/${made.data.session_id}`);
    expect([found.status, found.roundTrips]).toEqual([200, 1]);
  }
  expect(await ask('GET', '/v1/sessions/none')).toMatchObject({ status: 404, roundTrips: 1 });
});

test('a search that finds nothing takes two round trips, one of which also checks the key', async () => {
  const path = (query: string) => `/v1/sessions/search?q=${query}`;
  await ask('GET', path('nowhere'));
  const none = await ask('GET', path('nowhere'));
  expect([none.status, none.roundTrips]).toEqual([200, 2]);
});

test('a turn takes two round trips, and a third for the history, in every form of the reply', async () => {
  let session: { session_id?: string } = {};
  for (let turns = 0; turns < 10; turns += 1) {
    const turn = await ask('POST', '/v1/chat', { mode: 'test', message: 'hi', ...session });
    expect([turn.status, turn.roundTrips]).toEqual([200, turns === 0 ? 2 : 3]);
    session = { session_id: turn.data.session_id };
  }
});

test('a turn that names no mode takes one more, also if it names its user', async () => {
  const { data } = await ask('POST', '/v1/chat', { mode: 'test', message: 'hi', user: 'u' });
  for (const user of [{}, { user: 'u' }]) {
    const turn = await ask('POST', '/v1/chat', {
      ...{ mode: null, message: 'hi', session_id: data.session_id },
      ...user,
    });
    expect([turn.status, turn.roundTrips]).toEqual([200, 4]);
  }
});

test('a session is deleted in one round trip', async () => {
  const { data } = await ask('POST', '/v1/sessions', {});
  const path = `/v1/sessions/${data.session_id}`;
  for (const status of [200, 404]) {
    const deletion = await ask('DELETE', path);
    expect([deletion.status, deletion.roundTrips]).toEqual([status, 1]);
  }
});
