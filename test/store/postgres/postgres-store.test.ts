// The suite of every store, over PostgreSQL.
import { beforeAll, onTestFinished } from 'vitest';
import { openPostgresRows } from '../../../src/store/postgres/open.ts';
import type { PostgresDatabase } from '../../support/postgres-server.ts';
import { openTestPostgres, postgresOptions } from '../../support/postgres-store.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { describeEveryStore } from '../every-store.ts';

let server: PostgresDatabase;
let places = 0;
beforeAll(async () => {
  server = await sharedPostgres();
}, 60_000);

describeEveryStore('the PostgreSQL store', async () => {
  places += 1;
  const schema = `place_${places}`;
  return {
    open: async () => (await openTestPostgres(server, { schema })).store,
    async openRows() {
      const rows = await openPostgresRows(postgresOptions(server, { schema }));
      onTestFinished(() => rows.close());
      return rows;
    },
  };
});
