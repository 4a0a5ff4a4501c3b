// The connections of one client that are kept for further requests, and what is known of the server by them. HTTP/1.1 lets a server close a
// connection without a word (RFC 9112 section 9.3): a request that meets the closing may have been done, or not. Hence no connection is
// used again before one has outlived its answer, nor ever after one was closed under a request.
import type { Socket } from 'node:net';

export interface Connection {
  readonly socket: Socket;
}

/** By then a server that closes after each answer has closed. */
const trialMs = 10;

export class KeptConnections<Kept extends Connection> {
  readonly #connections: Kept[] = [];
  /** Whether the server keeps connections; null while that is not known. */
  #keeps: boolean | null = null;

  /** The one that was used last; undefined where there is none, or none can be trusted. */
  take(): Kept | undefined {
    if (this.#keeps !== true) return undefined;
    let connection = this.#connections.pop();
    while (connection !== undefined && !connection.socket.writable) connection = this.#connections.pop();
    return connection;
  }

  /** Of a connection whose answer has come whole. */
  put(connection: Kept): void {
    if (this.#keeps === false) {
      connection.socket.destroy();
      return;
    }
    this.#connections.push(connection);
    if (this.#keeps === null) this.#try(connection);
  }

  /** The server has closed a connection under a request, without a byte of an answer. */
  lose(): void {
    this.#keeps = false;
    for (const { socket } of this.#connections.splice(0)) socket.destroy();
  }

  #try({ socket }: Kept): void {
    const closed = () => this.lose();
    socket.once('end', closed).once('error', closed);
    setTimeout(() => {
      // After a busy moment the timer is due before the closing was read: one more look at the sockets comes first.
      setImmediate(() => {
        socket.off('end', closed).off('error', closed);
        if (!socket.destroyed) this.#keeps ??= true;
      });
    }, trialMs).unref();
  }
}
