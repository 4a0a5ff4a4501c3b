// Cuts responses whose reader has stopped taking bytes. Node's own socket time-out restarts at each write, even if the reader takes nothing,
// so it lets a stalled reader stay for up to twice as long.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The progress of the response that a connection is sending. */
interface Progress {
  response: ServerResponse | null;
  /** The bytes that the reader has taken. */
  takenBytes: number;
  /** When the reader last took bytes. */
  since: number;
}

export class StalledReaders {
  readonly #stalledMs: number;
  /** One entry per connection, not per response, because changing an entry costs less than adding and removing one. */
  readonly #connections = new Map<Socket, Progress>();
  readonly #timer: NodeJS.Timeout;

  /** A response is cut when its reader took nothing for `stalledMs`. All responses are checked every `checkMs`. */
  constructor(stalledMs: number, checkMs: number) {
    this.#stalledMs = stalledMs;
    this.#timer = setInterval(() => this.#check(performance.now()), Math.min(checkMs, stalledMs / 4));
    this.#timer.unref();
  }

  /** Watches the response until its reader has all of it. A connection sends one response at a time. */
  watch(socket: Socket, response: ServerResponse): void {
    if (socket.destroyed) return;
    const progress = this.#connections.get(socket);
    if (progress === undefined) {
      this.#connections.set(socket, { response, takenBytes: -1, since: 0 });
      socket.on('close', () => this.#connections.delete(socket));
    } else {
      progress.response = response;
      progress.takenBytes = -1;
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(now: number): void {
    for (const [socket, progress] of this.#connections) {
      const { response } = progress;
      if (response === null) continue;
      // The other written bytes are still buffered in this process.
      const takenBytes = socket.bytesWritten - socket.writableLength;
      if (response.writableFinished || response.destroyed) progress.response = null;
      else if (takenBytes !== progress.takenBytes || response.writableLength === 0) {
        progress.takenBytes = takenBytes;
        progress.since = now;
      } else if (now - progress.since >= this.#stalledMs) {
        response.destroy();
      }
    }
  }
}
