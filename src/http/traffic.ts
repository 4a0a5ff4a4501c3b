// Counts what has come over the connections of one client. When a request fails and the count is the same as before it, the request was
// on a connection kept from earlier, and nothing of an answer has come.
import type { Socket } from 'node:net';

export class Traffic {
  readonly #open = new Set<Socket>();
  #sum = 0;

  /** A connection that was just opened. */
  add(socket: Socket): void {
    this.#sum += 1;
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#sum += socket.bytesRead;
    });
  }

  /** Connections opened and bytes received, together: it is the same as before only where both are. */
  get mark(): number {
    let sum = this.#sum;
    for (const { bytesRead } of this.#open) sum += bytesRead;
    return sum;
  }
}
