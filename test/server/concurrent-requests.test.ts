// More requests at once than a server has connections to its PostgreSQL: they wait for each other, and none fails.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import type { PostgresDatabase } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { openServer, type ServerFixture } from './server-fixture.ts';

const connections = 4;

let database: PostgresDatabase;
let server: ServerFixture;
let url: string;
beforeAll(async () => {
  database = await sharedPostgres();
  const owner = 'served';
  const options = postgresOptions(database, { connections, server: { owner } });
  server = await openServer({
    owner: { id: owner, isGone: () => false },
    openStore: async () => (await openPostgresStore(options)).store,
  });
  ({ url } = await server.listen());
}, 60_000);
afterAll(() => server.close());

async function ask(method: string, path: string, body?: unknown) {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' };
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const { data } = (await response.json()) as { data: { session_id: string; total?: number } };
  return { status: response.status, data };
}

test('300 requests at once over four connections all succeed, and each has its effect once', async () => {
  const { data } = await ask('POST', '/v1/sessions', {});
  const own = `/v1/sessions/${data.session_id}`;
  const kinds = [
    () => ask('POST', '/v1/sessions', {}),
    () => ask('POST', '/v1/chat', { mode: 'echo', message: 'Hello' }),
    () => ask('GET', own),
    () => ask('GET', '/v1/sessions?limit=20'),
    () => ask('POST', '/v1/auth/verify', {}),
  ];
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, number) =>
      (kinds[number % kinds.length] as () => ReturnType<typeof ask>)(),
    ),
  );
  expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  const [found] = await database.rows(`
    SELECT (SELECT count(*) FROM parley.sessions) AS sessions, (SELECT count(*) FROM parley.messages) AS messages,
      (SELECT count(*) FROM pg_stat_activity 
        WHERE application_name = 'parley' AND datname = current_database()) AS connections`);
  const { connections: open, ...stored } = found as Record<string, string>;
  expect(stored).toEqual({ sessions: '121', messages: '120' });
  // The last connection is left to the heartbeat of the server, which opens it when it is due.
  expect([connections - 1, connections]).toContain(Number(open));
});
