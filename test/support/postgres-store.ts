// A store in the tests' own PostgreSQL server, opened as Parley opens it, closed when the test ends.
import { onTestFinished } from 'vitest';
import { storeRules } from '../../src/local/local-store-rules.ts';
import {
  type OpenedPostgresStore,
  openPostgresRows,
  openPostgresStore,
  type PostgresStoreOptions,
} from '../../src/store/postgres/open.ts';
import type { NewPlace } from '../store/every-store.ts';
import type { PostgresDatabase } from './postgres-server.ts';

/** Where the database, or a pooler before it, is reached. */
type Address = Pick<PostgresDatabase, 'port' | 'user'> & { readonly database?: string };

export async function openTestPostgres(
  server: Address,
  options: Partial<PostgresStoreOptions> = {},
): Promise<OpenedPostgresStore> {
  const opened = await openPostgresStore(postgresOptions(server, options));
  onTestFinished(() => opened.store.close());
  return opened;
}

/** What the store of a test is opened with. */
export function postgresOptions(
  { port, user, database = 'postgres' }: Address,
  options: Partial<PostgresStoreOptions> = {},
): PostgresStoreOptions {
  return {
    name: `postgres://127.0.0.1:${port}/${database}`,
    hosts: [{ host: '127.0.0.1', port, user, database }],
    schema: 'parley',
    now: Date.now,
    rules: storeRules,
    random: Math.random,
    connections: 4,
    patienceMs: 3000,
    prepare: true,
    acceptsLoss: true,
    ...options,
  };
}

let places = 0;

/** Each place is a schema of its own. */
export function placesIn(address: () => Address): NewPlace {
  return async () => {
    places += 1;
    const schema = `place_${places}`;
    return {
      open: async () => (await openTestPostgres(address(), { schema })).store,
      async openRows() {
        const rows = await openPostgresRows(postgresOptions(address(), { schema }));
        onTestFinished(() => rows.close());
        return rows;
      },
    };
  };
}
