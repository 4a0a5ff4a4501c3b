// Answers the requests of a connection one after the other, although a client may send thousands of them at once (pipelining). The requests
// of other connections come in between.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The most requests that wait on one connection. The connection is then not read further, but its last read may bring more. */
const mostWaiting = 32;

interface Turns {
  isBusy: boolean;
  /** The requests behind the one that is being answered. */
  readonly waiting: (() => void)[];
}

export class RequestPipeline {
  readonly #connections = new WeakMap<Socket, Turns>();

  /** Calls `answer` when the earlier requests of the connection are answered; never for a connection that is closed by then. */
  take({ socket }: IncomingMessage, outgoing: ServerResponse, answer: () => void): void {
    const start = () => {
      outgoing.once('close', () => this.#next(socket));
      answer();
    };
    const turns = this.#turnsOf(socket);
    const { waiting } = turns;
    if (!turns.isBusy) {
      turns.isBusy = true;
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
    const turns = this.#turnsOf(socket);
    const { waiting } = turns;
    const start = waiting.shift();
    if (start === undefined || socket.destroyed) turns.isBusy = false;
    else setImmediate(start);
    if (waiting.length === mostWaiting) socket.resume();
  }

  #turnsOf(socket: Socket): Turns {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const turns: Turns = { isBusy: false, waiting: [] };
    this.#connections.set(socket, turns);
    return turns;
  }
}
