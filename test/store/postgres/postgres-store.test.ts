// The suite of every store, over PostgreSQL.
import { afterAll, beforeAll } from 'vitest';
import { type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { placesIn } from '../../support/postgres-store.ts';
import { describeEveryStore } from '../every-store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

describeEveryStore(
  'the PostgreSQL store',
  placesIn(() => server),
);
