// The connections of one client that are kept for further requests, and what is known of the server by them. HTTP/1.1 lets a server close a
// connection without a word (RFC 9112 section 9.3): a request that meets the closing may have been done, or not. Hence no connection is
// used again before one has outlived its answer, nor ever after one was closed under a request.
import type { Socket } from 'node:net';

export interface Line {
  readonly socket: Socket;
}

/** By then a server that closes after each answer has closed. */
const trialMs = 10;

export class KeptLines<Kept extends Line> {
  readonly #lines: Kept[] = [];
  /** Whether the server keeps connections; null while that is not known. */
  #keeps: boolean | null = null;

  /** The one that was used last; undefined where there is none, or none can be trusted. */
  take(): Kept | undefined {
    if (this.#keeps !== true) return undefined;
    let line = this.#lines.pop();
    while (line !== undefined && !line.socket.writable) line = this.#lines.pop();
    return line;
  }

  /** Of a connection whose answer has come whole. */
  put(line: Kept): void {
    if (this.#keeps === false) {
      line.socket.destroy();
      return;
    }
    this.#lines.push(line);
    if (this.#keeps === null) this.#try(line);
  }

  /** The server has closed a connection under a request, without a byte of an answer. */
  lose(): void {
    this.#keeps = false;
    for (const { socket } of this.#lines.splice(0)) socket.destroy();
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
