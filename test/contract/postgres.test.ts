// The same API over PostgreSQL: embedded, and through a balancer that gives each connection to the next of two servers on one store.
import { connect as connectTo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import type { EmbeddedBackend } from '../../src/service/backend.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { openServer, type ServerFixture } from '../server/server-fixture.ts';
import { newKey, openEmbedded } from '../support/embedded.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { postgresOptions } from '../support/postgres-store.ts';
import { openRemote } from '../support/remote.ts';
import { describeService, type ServiceFixture } from './service-suite.ts';

let database: PostgresServer;
let embedded: EmbeddedBackend;
let servers: readonly ServerFixture[];
let balancer: Server;
let url: string;
let tests = 0;

beforeAll(async () => {
  database = await startPostgres();
  const openStore = async () => (await openPostgresStore(postgresOptions(database))).store;
  embedded = await openEmbedded('', { openStore });
  servers = [await openServer({ openStore }), await openServer({ openStore })];
  const ports = await Promise.all(servers.map(async (server) => Number((await server.listen()).port)));
  ({ balancer, url } = await balance(ports));
}, 60_000);

afterAll(async () => {
  balancer.close();
  await Promise.all(servers.map((server) => server.close()));
  await embedded.close();
  database.stop();
});

describeService('over PostgreSQL', async () => projects(embedded, embedded, async () => {}));

describeService('from two servers over one PostgreSQL', async () => {
  const { backend } = await openRemote(url);
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

async function balance(ports: readonly number[]): Promise<{ balancer: Server; url: string }> {
  let connections = 0;
  const server = createServer((client) => {
    const upstream = connectTo(ports[connections++ % ports.length] ?? 0, '127.0.0.1');
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { balancer: server, url: `http://127.0.0.1:${address.port}` };
}
