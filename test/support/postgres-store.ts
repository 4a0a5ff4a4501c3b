// A store in the tests' own PostgreSQL server, opened as Parley opens it, closed when the test ends.
import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
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

/**
 * For a file, as it is read: each place is a schema of its own. That of a test which has ended is emptied and used again, for its tables take
 * long to make. One connection empties all, for a new one reads the catalogue of all tables first.
 */
export function placesIn(address: () => Address): NewPlace {
  const free: string[] = [];
  let emptying: pg.Client | null = null;
  afterAll(() => emptying?.end());
  const empty = async (schema: string) => {
    if (emptying === null) {
      const { port, user, database = 'postgres' } = address();
      emptying = new pg.Client({ host: '127.0.0.1', port, user, database });
      await emptying.connect();
    }
    await emptying.query(emptied(schema));
  };
  return async () => {
    let schema = free.pop();
    if (schema === undefined) {
      places += 1;
      schema = `place_${places}`;
    } else {
      await empty(schema);
    }
    const own = schema;
    // What is registered first runs last: all stores of the place are closed by then.
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

/**
 * Leaves what the migrations have made: tables without rows, and the version. Most tables hold few rows, so DELETE is faster than TRUNCATE,
 * which makes the files of all anew. Foreign keys are not looked at, for all rows go.
 */
function emptied(schema: string): string {
  return `DO $$ DECLARE own text; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR own IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' AND tablename <> 'meta' LOOP
      EXECUTE format('DELETE FROM %I.%I', '${schema}', own);
    END LOOP;
    FOR own IN SELECT sequencename FROM pg_sequences WHERE schemaname = '${schema}' LOOP
      PERFORM setval(format('%I.%I', '${schema}', own), 1, false);
    END LOOP;
    DELETE FROM ${schema}.meta WHERE name IN ('purge', 'copy');
    UPDATE ${schema}.meta SET value = '' WHERE name = 'audit_head';
  END $$`;
}
