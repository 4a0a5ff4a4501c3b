// A store in the tests' PostgreSQL server, opened as in the program, and closed when the test ends.
import { onTestFinished } from 'vitest';
import { storeRules } from '../../src/local/local-store-rules.ts';
import {
  type OpenedPostgresStore,
  openPostgresRows,
  openPostgresStore,
  type PostgresStoreOptions,
} from '../../src/store/postgres/open.ts';
import type { NewPlace } from '../store/every-store.ts';
import { type PostgresDatabase, postgresDatabase } from './postgres-server.ts';

/** The address of the database, or of a pooler in front of it. */
type Address = Pick<PostgresDatabase, 'port' | 'user'> & { readonly database?: string };

export async function openTestPostgres(
  server: Address,
  options: Partial<PostgresStoreOptions> = {},
): Promise<OpenedPostgresStore> {
  const opened = await openPostgresStore(postgresOptions(server, options));
  onTestFinished(() => opened.store.close());
  return opened;
}

/** The options of the store of a test. */
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

/** Each place is a schema of its own. The schema of an ended test is emptied and reused, because creating tables takes long. */
export function placesIn(address: () => Address): NewPlace {
  const free: string[] = [];
  return async () => {
    let schema = free.pop();
    if (schema === undefined) {
      places += 1;
      schema = `place_${places}`;
    } else {
      await empty(address(), schema);
    }
    const own = schema;
    // The first registered callback runs last, when all stores of the place are closed.
    onTestFinished(() => void free.push(own));
    return {
      open: async () => (await openTestPostgres(address(), { schema: own })).store,
      async openRows() {
        const rows = await openPostgresRows(postgresOptions(address(), { schema: own }));
        onTestFinished(() => rows.close());
        return rows;
      },
    };
  };
}

/** Deletes all rows, except the version of the schema. */
async function empty({ port, user, database = 'postgres' }: Address, schema: string): Promise<void> {
  const names = `SELECT string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables
    WHERE schemaname = '${schema}' AND tablename <> 'meta'`;
  await postgresDatabase({ port, user, database }).rows(`DO $$ BEGIN
    EXECUTE 'TRUNCATE ' || (${names}) || ' RESTART IDENTITY';
    DELETE FROM ${schema}.meta WHERE name IN ('purge', 'copy');
    UPDATE ${schema}.meta SET value = '' WHERE name = 'audit_head';
  END $$`);
}
