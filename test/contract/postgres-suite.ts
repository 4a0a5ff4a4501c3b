// The suite of the service over PostgreSQL: through a balancer that sends each connection to the next of two servers on one store, and optionally
// embedded. The servers may reach the database through a pooler; the embedded service reaches it directly.
import { afterAll, beforeAll } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { balance } from '../support/balancer.ts';
import { openEmbedded } from '../support/embedded.ts';
import { type Pooler, startPooler } from '../support/pooler.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { openRemote } from '../support/remote.ts';
import type { ListeningServer } from '../support/scripted-server.ts';
import { newProjects } from './service-projects.ts';
import { callsAtOnce, describeService, type ServiceFixture } from './service-suite.ts';

const hour = 3_600_000;

interface PostgresServices {
  readonly isPooled: boolean;
  readonly isEmbeddedToo: boolean;
  /** Only what two servers, their clocks and a pooler can change. */
  readonly isShort?: boolean;
}

export function describePostgresServices(
  name: string,
  start: () => Promise<PostgresServer>,
  { isPooled, isEmbeddedToo, isShort = false }: PostgresServices,
): void {
  let database: PostgresServer;
  let pooler: Pooler | null = null;
  let embedded: EmbeddedBackend;
  let servers: readonly ServerFixture[];
  let balancer: ListeningServer;

  beforeAll(async () => {
    database = await start();
    pooler = isPooled ? await startPooler(database) : null;
    const openStore = async () => (await openPostgresStore(postgresOptions(database))).store;
    const server = (owner: string, ahead: number) => ({
      owner: { id: owner, isGone: () => false },
      now: () => Date.now() + ahead,
      openStore: async () =>
        (await openPostgresStore(postgresOptions(pooler ?? database, { server: { owner } }))).store,
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
    pooler?.close();
    await database.stop();
  });

  if (isEmbeddedToo) describeService(`over ${name}`, async () => projects(embedded, async () => {}));

  const way = isPooled ? ' behind a pooler' : '';
  describeService(
    `from two servers over one ${name}${way}, whose clocks are an hour apart`,
    async () => {
      // Of hundreds of calls at once, the last one waits long on a busy machine.
      const { backend } = await openRemote(balancer.url, { timeout: 30 });
      return projects(backend, () => backend.close());
    },
    isShort ? callsAtOnce : undefined,
  );

  const projects = async (backend: ServiceFixture['backend'], close: () => Promise<void>) => ({
    backend,
    ...(await newProjects(embedded)),
    close,
  });
}
