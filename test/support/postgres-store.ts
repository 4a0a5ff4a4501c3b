// A store in the tests' own PostgreSQL server, opened as Parley opens it, closed when the test ends.
import { onTestFinished } from 'vitest';
import { storeRules } from '../../src/local/local-store-rules.ts';
import {
  type OpenedPostgresStore,
  openPostgresStore,
  type PostgresStoreOptions,
} from '../../src/store/postgres/open.ts';
import type { PostgresDatabase } from './postgres-server.ts';

export async function openTestPostgres(
  server: PostgresDatabase,
  options: Partial<PostgresStoreOptions> = {},
): Promise<OpenedPostgresStore> {
  const opened = await openPostgresStore(postgresOptions(server, options));
  onTestFinished(() => opened.store.close());
  return opened;
}

/** What the store of a test is opened with. */
export function postgresOptions(
  { port, user, database }: PostgresDatabase,
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
