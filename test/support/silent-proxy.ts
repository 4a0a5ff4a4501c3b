// A proxy to a server on this machine that can become silent, as a cut network does: it accepts connections and bytes, but forwards nothing and
// closes nothing. A connection that lost bytes stays silent; the others continue when the silence ends.
import { connect, createServer, type Socket } from 'node:net';
import { type ListeningServer, listening } from './scripted-server.ts';

export interface SilentProxy extends ListeningServer {
  fallSilent(): void;
  /** Serves new connections again. */
  speak(): void;
  /** Delivers the bytes that clients sent in the silence; resolves when the server has responded, or closed the connection. */
  deliver(): Promise<void>;
}

export async function openSilentProxy(port: number): Promise<SilentProxy> {
  let isSilent = false;
  const late: { readonly upstream: Socket; readonly bytes: Buffer }[] = [];
  const server = createServer((client) => {
    client.on('error', () => {});
    if (isSilent) return;
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    let hasLost = false;
    const pass = (from: Socket, to: Socket) => {
      from.on('data', (bytes) => {
        hasLost ||= isSilent;
        if (!hasLost) to.write(bytes);
        else if (to === upstream) late.push({ upstream, bytes });
      });
      // The other end is not notified either.
      from.on('close', () => {
        if (!isSilent && !hasLost) to.destroy();
      });
      from.on('error', () => {});
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  const { close, ...rest } = await listening(server, 'tcp');
  return {
    ...rest,
    async close() {
      for (const { upstream } of late) upstream.destroy();
      await close();
    },
    fallSilent() {
      isSilent = true;
    },
    speak() {
      isSilent = false;
    },
    async deliver() {
      for (const { upstream, bytes } of late.splice(0)) {
        if (upstream.closed) continue;
        await new Promise((resolve) => {
          upstream.once('data', resolve).once('close', resolve);
          upstream.write(bytes);
        });
      }
    },
  };
}
