// A proxy to a server on this machine that can fall silent, as a network does that is cut without a word: it takes connections and bytes,
// passes nothing on and closes nothing. A connection that lost bytes so stays silent for ever; the others go on when the silence ends.
import { connect, createServer, type Socket } from 'node:net';
import { type ListeningServer, listening } from './scripted-server.ts';

export interface SilentProxy extends ListeningServer {
  fallSilent(): void;
  /** Connections that are made from now on are served again. */
  speak(): void;
}

export async function openSilentProxy(port: number): Promise<SilentProxy> {
  let isSilent = false;
  const server = createServer((client) => {
    let hasLost = isSilent;
    const pass = (from: Socket, to: Socket | null) => {
      from.on('data', (bytes) => {
        hasLost ||= isSilent;
        if (!hasLost) to?.write(bytes);
      });
      // Nothing tells the other end either, until the silence is over.
      from.on('close', () => {
        if (!isSilent) to?.destroy();
      });
      from.on('error', () => {});
    };
    if (hasLost) return pass(client, null);
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    pass(client, upstream);
    pass(upstream, client);
  });
  return {
    ...(await listening(server, 'tcp')),
    fallSilent() {
      isSilent = true;
    },
    speak() {
      isSilent = false;
    },
  };
}
