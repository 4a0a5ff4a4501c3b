// The suite of every store, over PostgreSQL 18, and through a pooler in transaction mode before it and before the PostgreSQL of this machine.
import { afterAll, beforeAll, describe } from 'vitest';
import { hasPooler, type Pooler, startPooler } from '../../support/pooler.ts';
import { newestPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { placesIn } from '../../support/postgres-store.ts';
import { describeEveryStore } from '../every-store.ts';

describe('PostgreSQL', () => describePlaces(() => startPostgres(), false));
describe('PostgreSQL 18', () => describePlaces(() => startPostgres(undefined, newestPostgres), true));

function describePlaces(start: () => Promise<PostgresServer>, isDirect: boolean): void {
  let server: PostgresServer;
  let pooler: Pooler | null = null;
  beforeAll(async () => {
    server = await start();
    pooler = hasPooler ? await startPooler(server) : null;
  }, 60_000);
  afterAll(async () => {
    pooler?.close();
    await server.stop();
  });

  if (isDirect)
    describeEveryStore(
      'the PostgreSQL store',
      placesIn(() => server),
    );
  if (hasPooler)
    describeEveryStore(
      'the PostgreSQL store behind a pooler',
      placesIn(() => pooler ?? server),
    );
}
