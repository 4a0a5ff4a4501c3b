// Cuts responses whose reader has stopped taking bytes. Node's own time-out of a socket starts again at each write, even if the reader
// takes nothing, so it lets a stalled reader stay for up to twice as long.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The response that a connection sends, how many bytes its reader has taken, and since when it has taken no more. */
interface Sending {
  response: ServerResponse | null;
  taken: number;
  since: number;
}

export class StalledReaders {
  readonly #stalledMs: number;
  /** One entry per connection, not per response, because changing an entry costs less than adding and removing one. */
  readonly #connections = new Map<Socket, Sending>();
  readonly #timer: NodeJS.Timeout;

  /** A response is cut when its reader took nothing for `stalledMs`. All responses are checked every `checkMs`. */
  constructor(stalledMs: number, checkMs: number) {
    this.#stalledMs = stalledMs;
    this.#timer = setInterval(() => this.#look(performance.now()), Math.min(checkMs, stalledMs / 4));
    this.#timer.unref();
  }

  /** Watches the response until its reader has all of it. A connection sends one response at a time. */
  watch(socket: Socket, response: ServerResponse): void {
    if (socket.destroyed) return;
    const sending = this.#connections.get(socket);
    if (sending === undefined) {
      this.#connections.set(socket, { response, taken: -1, since: 0 });
      socket.once('close', () => this.#connections.delete(socket));
    } else {
      sending.response = response;
      sending.taken = -1;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const [socket, sending] of this.#connections) {
      const { response } = sending;
      if (response === null) continue;
      // The rest of the written bytes still waits in this process.
      const taken = socket.bytesWritten - socket.writableLength;
      if (response.writableFinished || response.destroyed) sending.response = null;
      else if (taken !== sending.taken || response.writableLength === 0) {
        sending.taken = taken;
        sending.since = now;
      } else if (now - sending.since >= this.#stalledMs) {
        response.destroy();
      }
    }
  }
}
