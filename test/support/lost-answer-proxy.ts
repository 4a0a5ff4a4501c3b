// A proxy to a PostgreSQL server that cuts a connection when the server has done what was asked, and before its answer arrives.
import { connect, createServer, type Socket } from 'node:net';
import { type ListeningServer, listening } from './scripted-server.ts';

export interface LostAnswerProxy extends ListeningServer {
  /** Loses this answer (from 1) of the connections that are open now. The others arrive. */
  lose(number: number): void;
  /** True if the answer was lost. */
  readonly hasLost: () => boolean;
}

/** The type of the message that ends an answer: ReadyForQuery (PostgreSQL documentation, section 55.7). */
const endOfAnswer = 'Z'.charCodeAt(0);

export async function openLostAnswerProxy(port: number): Promise<LostAnswerProxy> {
  const open = new Set<Socket>();
  let counted = new Set<Socket>();
  let left = 0;
  const server = createServer((client) => {
    const upstream = connect({ port, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    open.add(client);
    client.on('data', (bytes) => upstream.write(bytes));
    let rest: Buffer = Buffer.alloc(0);
    upstream.on('data', (bytes) => {
      rest = Buffer.concat([rest, bytes]);
      // The reply to the request for encryption is one byte, and no message.
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        if (rest[0] === endOfAnswer && counted.has(client)) left -= 1;
        rest = rest.subarray(1 + rest.readUInt32BE(1));
        if (left === 0 && counted.size > 0) {
          counted = new Set();
          client.destroy();
          upstream.destroy();
          return;
        }
      }
      client.write(bytes);
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        open.delete(client);
        other.destroy();
      });
    }
  });
  return {
    ...(await listening(server, 'tcp')),
    lose(number) {
      left = number;
      counted = new Set(open);
    },
    hasLost: () => left === 0,
  };
}
