// A proxy to a database on this machine that counts round trips: how often the client sends after the server has responded.
import { connect, createServer } from 'node:net';
import { type ListeningServer, listening } from './scripted-server.ts';

export interface CountingProxy extends ListeningServer {
  readonly roundTrips: () => number;
}

export async function countRoundTrips(port: number): Promise<CountingProxy> {
  let roundTrips = 0;
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    let isAsking = false;
    client.on('data', () => {
      if (!isAsking) roundTrips += 1;
      isAsking = true;
    });
    upstream.on('data', () => {
      isAsking = false;
    });
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  return { ...(await listening(server, 'tcp')), roundTrips: () => roundTrips };
}
