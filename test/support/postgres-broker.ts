// Runs in Vitest's own process: starts one PostgreSQL server when the first test file asks for it, tells each file its address, and stops it after
// the last. The servers of single files start with a copy of data that is created once.
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clusters = mkdtempSync(join(tmpdir(), 'parley-clusters-'));
  // Where root runs the tests, another user makes the data.
  chmodSync(clusters, 0o755);
  process.env['PARLEY_TEST_PG_CLUSTERS'] = clusters;
  let started: Promise<PostgresServer> | null = null;
  const tell = async (socket: Socket) => {
    started ??= startPostgres();
    try {
      const { port, user } = await started;
      socket.end(JSON.stringify({ port, user }));
    } catch (error) {
      socket.end(JSON.stringify({ failure: String(error) }));
    }
  };
  const broker = createServer((socket) => void tell(socket)).listen(0, '127.0.0.1');
  await once(broker, 'listening');
  project.provide('postgresBroker', (broker.address() as AddressInfo).port);
  return async () => {
    broker.close();
    await (await started?.catch(() => null))?.stop();
    rmSync(clusters, { recursive: true, force: true });
  };
}
