// The suite of every store, over PostgreSQL.
import { beforeAll } from 'vitest';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { placesIn } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { describeEveryStore } from '../every-store.ts';

let server: PostgresDatabase;
beforeAll(async () => {
  server = await sharedPostgres();
}, 60_000);

describeEveryStore(
  'the PostgreSQL store',
  placesIn(() => server),
);
