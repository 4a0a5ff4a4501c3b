// A right of the database's user that is revoked while a store is used: the failure names the table and what to grant, in the words of a start.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';

let database: PostgresServer;
let place: Place;
let served: ServedPlace;
let key: string;
const env = () => ({ PARLEY_STORE: `postgres://guest@127.0.0.1:${database.port}/postgres?schema=rights` });
beforeAll(async () => {
  database = await startPostgres([]);
  place = new Place();
  const owner = { PARLEY_STORE: env().PARLEY_STORE.replace('guest', database.user) };
  key = (await place.answer<{ key: string }>(['keys', 'create', '--project', 'p'], { env: owner })).key;
  for (const sql of [
    'CREATE ROLE guest LOGIN',
    'GRANT USAGE ON SCHEMA rights TO guest',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA rights TO guest',
  ])
    await database.rows(sql);
  served = await servePlace(place, [], env());
}, 60_000);
afterAll(async () => {
  await served.end('SIGTERM');
  place.remove();
  await database.stop();
});

const granted = /grant USAGE on the schema, and SELECT, INSERT, UPDATE and DELETE on its tables/;

test.each([
  ['sessions', 'create', ['sessions', 'create'], '/v1/sessions', '{"title":"one"}'],
  [
    'messages',
    'chat',
    ['chat', '-n', '-m', 'echo', 'Hello'],
    '/v1/chat',
    '{"message":"Hello","mode":"echo"}',
  ],
])('on the table %s, %s', async (table, _name, words, path, body) => {
  await database.rows(`REVOKE INSERT ON rights.${table} FROM guest`);
  const here = await place.parley(words, { env: { ...env(), PARLEY_API_KEY: key } });
  expectFailure(here, { status: 7, code: 'STORE_UNSAFE' });
  expect(here.err).toContain(`permission denied for table ${table}`);
  expect(here.err).toMatch(granted);

  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${served.url}${path}`, { method: 'POST', headers, body });
  expect(response.status).toBe(503);
  const { error } = JSON.parse(await response.text());
  expect(error).toEqual({
    code: 'UNAVAILABLE',
    message:
      'The server may not use its store for this. Nothing was changed. The operator can find the cause in the log of the server.',
  });
  await expect.poll(() => served.written.err).toContain(`permission denied for table ${table}`);
  expect(served.written.err).toMatch(granted);

  await database.rows(`GRANT INSERT ON rights.${table} TO guest`);
  expect((await fetch(`${served.url}${path}`, { method: 'POST', headers, body })).status).toBeLessThan(300);
});
