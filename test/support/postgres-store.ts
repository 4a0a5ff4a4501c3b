// A store in the tests' PostgreSQL server, opened as in the program, and closed when the test ends.
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

/**
 * Called once for each file of tests. Each place is a schema of its own. The schema of an ended test is emptied and reused, because creating
 * tables takes long. One connection empties all schemas, because a new connection reads the catalogue of all tables first.
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

/**
 * Deletes all rows, except the version of the schema. Most tables hold few rows, so DELETE is faster than TRUNCATE, which creates the files of
 * all tables again. Foreign keys are not checked, because all rows are deleted.
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
