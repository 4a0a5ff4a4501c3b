// Counts the connections and bytes of one client. When a request fails and the count is as before it, the request was on a kept connection
// and no byte of a response has come.
import type { Socket } from 'node:net';

export class Traffic {
  readonly #open = new Set<Socket>();
  #sum = 0;

  /** Counts a connection that was just opened. */
  add(socket: Socket): void {
    this.#sum += 1;
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      this.#sum += socket.bytesRead;
    });
  }

  /** The connections opened and the bytes received, as one number. It is unchanged only where both are. */
  get mark(): number {
    let sum = this.#sum;
    for (const { bytesRead } of this.#open) sum += bytesRead;
    return sum;
  }
}
