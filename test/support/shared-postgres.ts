// A database of its own for a test file, in the PostgreSQL server that all files of a run share (postgres-broker.ts). A file that crashes its
// server, changes the settings or reads the data files starts a server for itself.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { type PostgresDatabase, postgresDatabase } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port where the shared server is told. */
    postgresBroker: number;
  }
}

export async function sharedPostgres(): Promise<PostgresDatabase> {
  const address = await text(connect(inject('postgresBroker'), '127.0.0.1'));
  const { failure, port, user } = JSON.parse(address);
  if (failure !== undefined) throw new Error(failure);
  const database = `file_${randomUUID().replaceAll('-', '')}`;
  await postgresDatabase({ port, user, database: 'postgres' }).rows(`CREATE DATABASE ${database}`);
  return postgresDatabase({ port, user, database });
}
