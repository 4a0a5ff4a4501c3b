// Answers the requests of a connection one after the other, although a client may send thousands of them at once (pipelining). The requests
// of other connections come in between.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests that wait on one connection. The connection is then not read further, but its last read may bring more. */
const mostWaiting = 32;

export class ConnectionTurns {
  /** For each connection with a request that is being answered, the requests that wait behind it. */
  readonly #waiting = new WeakMap<Socket, (() => void)[]>();

  /** Calls `answer` when the earlier requests of the connection are answered; never for a connection that is closed by then. */
  take({ socket }: IncomingMessage, outgoing: ServerResponse, answer: () => void): void {
    const start = () => {
      outgoing.once('close', () => this.#next(socket));
      answer();
    };
    const waiting = this.#waiting.get(socket);
    if (waiting === undefined) {
      this.#waiting.set(socket, []);
      start();
      return;
    }
    waiting.push(start);
    if (waiting.length === mostWaiting + 1) this.#pause(socket, waiting);
  }

  #pause(socket: Socket, waiting: readonly unknown[]): void {
    socket.pause();
    // Node reads on after each response.
    const pauseAgain = () => {
      if (waiting.length > mostWaiting) socket.pause();
      else socket.off('resume', pauseAgain);
    };
    socket.on('resume', pauseAgain);
  }

  #next(socket: Socket): void {
    const waiting = this.#waiting.get(socket) ?? [];
    const start = waiting.shift();
    if (start === undefined || socket.destroyed) this.#waiting.delete(socket);
    else setImmediate(start);
    if (waiting.length === mostWaiting) socket.resume();
  }
}
