// The same API over PostgreSQL: embedded, and through a balancer that gives each connection to the next of two servers on one store.
import { afterAll, beforeAll } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { balance } from '../support/balancer.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import type { PostgresDatabase } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { openRemote } from '../support/remote.ts';
import type { ListeningServer } from '../support/scripted-server.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { describeService, type ServiceFixture } from './service-suite.ts';

let database: PostgresDatabase;
let embedded: EmbeddedBackend;
let servers: readonly ServerFixture[];
let balancer: ListeningServer;
let tests = 0;
const hour = 3_600_000;

beforeAll(async () => {
  database = await sharedPostgres();
  const openStore = async () => (await openPostgresStore(postgresOptions(database))).store;
  const server = (owner: string, ahead: number) => ({
    owner: { id: owner, isGone: () => false },
    now: () => Date.now() + ahead,
    openStore: async () => (await openPostgresStore(postgresOptions(database, { server: { owner } }))).store,
  });
  embedded = await openEmbedded('', { openStore });
  servers = [await openServer(server('first', hour / 2)), await openServer(server('second', -hour / 2))];
  const ports = await Promise.all(servers.map(async (server) => Number((await server.listen()).port)));
  balancer = await balance(ports);
}, 60_000);

afterAll(async () => {
  await balancer.close();
  await Promise.all(servers.map((server) => server.close()));
  await embedded.close();
});

describeService('over PostgreSQL', async () => projects(embedded, embedded, async () => {}));

describeService('from two servers over one PostgreSQL, whose clocks are an hour apart', async () => {
  const { backend } = await openRemote(balancer.url);
  return projects(backend, embedded, () => backend.close());
});

/** Two projects of this test alone, and a key to each. */
async function projects(
  backend: ServiceFixture['backend'],
  owner: EmbeddedBackend,
  close: () => Promise<void>,
): Promise<ServiceFixture> {
  tests += 1;
  const [first, second] = [`first ${tests}`, `second ${tests}`];
  const { administration } = owner;
  const revoked = await administration.createKey({ project_name: first, key_name: 'revoked' });
  await administration.revokeKey(revoked.key_id);
  return {
    backend,
    firstProject: first,
    firstKey: await newKey(owner, first),
    secondKey: await newKey(owner, second),
    revokedKey: revoked.key,
    close,
  };
}
