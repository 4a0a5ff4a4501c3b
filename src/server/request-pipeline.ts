// Serves pipelined requests: a client may send thousands of requests on one connection at once. They are served one after the other, and
// the requests of other connections run in between.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests that wait on one connection. Reading from the connection then pauses, although its last read may have brought more. */
const maxWaiting = 32;

interface Connection {
  isBusy: boolean;
  /** The requests behind the one that is being served. */
  readonly waiting: (() => void)[];
}

export class RequestPipeline {
  readonly #connections = new WeakMap<Socket, Connection>();

  /** Calls `serve` when the earlier requests of the connection are served; never if the connection is closed by then. */
  add({ socket }: IncomingMessage, outgoing: ServerResponse, serve: () => void): void {
    const start = () => {
      outgoing.on('close', () => this.#next(socket));
      serve();
    };
    const connection = this.#connectionOf(socket);
    const { waiting } = connection;
    if (!connection.isBusy) {
      connection.isBusy = true;
      start();
      return;
    }
    waiting.push(start);
    if (waiting.length === maxWaiting + 1) this.#pause(socket, waiting);
  }

  #pause(socket: Socket, waiting: readonly unknown[]): void {
    socket.pause();
    // Node resumes the socket after each response.
    const pauseAgain = () => {
      if (waiting.length > maxWaiting) socket.pause();
      else socket.off('resume', pauseAgain);
    };
    socket.on('resume', pauseAgain);
  }

  #next(socket: Socket): void {
    const connection = this.#connectionOf(socket);
    const { waiting } = connection;
    const start = waiting.shift();
    if (start === undefined || socket.destroyed) connection.isBusy = false;
    else setImmediate(start);
    if (waiting.length === maxWaiting) socket.resume();
  }

  #connectionOf(socket: Socket): Connection {
    let connection = this.#connections.get(socket);
    if (connection === undefined) {
      connection = { isBusy: false, waiting: [] };
      this.#connections.set(socket, connection);
    }
    return connection;
  }
}
