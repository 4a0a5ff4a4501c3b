// The API suite over PostgreSQL: embedded, and through a balancer that gives each connection to the next of two servers on one store.
import { afterAll, beforeAll } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { balance } from '../support/balancer.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { openRemote } from '../support/remote.ts';
import type { ListeningServer } from '../support/scripted-server.ts';
import { describeService, type ServiceFixture } from './service-suite.ts';

let database: PostgresServer;
let embedded: EmbeddedBackend;
let servers: readonly ServerFixture[];
let balancer: ListeningServer;
let tests = 0;

beforeAll(async () => {
  database = await startPostgres();
  const openStore = async () => (await openPostgresStore(postgresOptions(database))).store;
  const server = (owner: string) => ({
    owner: { id: owner, isGone: () => false },
    openStore: async () => (await openPostgresStore(postgresOptions(database, { server: { owner } }))).store,
  });
  embedded = await openEmbedded('', { openStore });
  servers = [await openServer(server('first')), await openServer(server('second'))];
  const ports = await Promise.all(servers.map(async (server) => Number((await server.listen()).port)));
  balancer = await balance(ports);
}, 60_000);

afterAll(async () => {
  await balancer.close();
  await Promise.all(servers.map((server) => server.close()));
  await embedded.close();
  database.stop();
});

describeService('over PostgreSQL', async () => projects(embedded, embedded, async () => {}));

describeService('from two servers over one PostgreSQL', async () => {
  const { backend } = await openRemote(balancer.url);
  return projects(backend, embedded, () => backend.close());
});

/** Two projects that no other test uses, with a key each. */
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
