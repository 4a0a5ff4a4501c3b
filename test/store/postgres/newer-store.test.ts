// A store that a newer version migrates while a server of this version runs on it.
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { schema } from '../../../src/store/postgres/schema.ts';
import { bodyOf, openServer } from '../../server/server-fixture.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

let database: PostgresDatabase;
beforeAll(async () => {
  database = await sharedPostgres();
}, 60_000);

async function run(sql: string): Promise<void> {
  const { port, user } = database;
  const client = new pg.Client({ host: '127.0.0.1', port, user, database: database.database ?? 'postgres' });
  await client.connect();
  await client.query(sql);
  await client.end();
}

test('a server whose store is migrated by a newer version continues, is not ready, and explains what it cannot do', async () => {
  const place = 'migrated_beneath';
  const { store } = await openTestPostgres(database, { schema: place });
  const server = await openServer({ openStore: async () => store, ready: () => store.ping() });
  onTestFinished(() => server.close());
  const chat = { body: { mode: 'echo', message: 'a fox' } };
  expect((await server.ask('POST', '/v1/chat', chat)).status).toBe(200);
  expect((await server.ask('GET', '/readyz')).status).toBe(200);
  const newer = schema.length + 1;
  await run(
    `ALTER TABLE ${place}.search RENAME TO search_aside; ALTER TABLE ${place}.sessions ADD COLUMN later text;
     UPDATE ${place}.meta SET value = '${newer}' WHERE name = 'schema_version';
     UPDATE ${place}.meta SET value = '9.9.9' WHERE name = 'parley_version'`,
  );

  expect((await server.ask('POST', '/v1/chat', chat)).status).toBe(200);
  expect((await server.ask('GET', '/v1/sessions')).status).toBe(200);
  const failed = [await server.ask('GET', '/readyz'), await server.ask('GET', '/v1/sessions/search?q=fox')];
  for (const response of failed) {
    const { error } = await bodyOf(response);
    expect([response.status, error?.code]).toEqual([503, 'UNAVAILABLE']);
    expect(error?.message).toContain('newer version');
  }
  expect(JSON.stringify(server.log())).toContain(`has schema ${newer}, made by Parley 9.9.9 or newer`);
});

test('a call to a store whose schema has gone names the database and what is missing', async () => {
  const place = 'renamed_beneath';
  const { store } = await openTestPostgres(database, { schema: place });
  await run(`ALTER SCHEMA ${place} RENAME TO renamed_away`);
  onTestFinished(() => run(`ALTER SCHEMA renamed_away RENAME TO ${place}`));
  await expect(store.findSession('prj_none', 'ses_none')).rejects.toMatchObject({
    ...{ code: 'INTERNAL_ERROR', message: expect.stringMatching(/The database .*projects/) },
  });
});
