// Runs in Vitest's own process: starts one PostgreSQL server when the first test file asks for it, tells each where it is, and stops it
// after the last.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
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
  };
}
