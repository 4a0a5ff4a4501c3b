// A load balancer for tests: each connection goes to the next server that accepts it.
import { connect, createServer, type Socket } from 'node:net';
import { type ListeningServer, listening } from './scripted-server.ts';

export function balance(ports: readonly number[]): Promise<ListeningServer> {
  let connections = 0;
  const forward = (client: Socket, tries: number) => {
    const upstream = connect(ports[connections++ % ports.length] ?? 0, '127.0.0.1');
    client.on('close', () => upstream.destroy());
    let isConnected = false;
    upstream.once('connect', () => {
      isConnected = true;
      upstream.on('close', () => client.destroy());
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => {
      if (!isConnected && tries < ports.length) forward(client, tries + 1);
      else client.destroy();
    });
  };
  const server = createServer((client) => {
    client.on('error', () => {});
    forward(client, 1);
  });
  return listening(server, 'http');
}
