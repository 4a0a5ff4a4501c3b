// Cuts responses whose reader has stopped taking bytes. Node's own time-out of a socket starts again at each write, even if the reader
// takes nothing, so it lets a stalled reader stay for up to twice as long.
import type { ServerResponse } from 'node:http';

interface Progress {
  taken: number;
  since: number;
}

export class StalledReaders {
  readonly #stalledMs: number;
  readonly #responses = new Map<ServerResponse, Progress>();
  readonly #timer: NodeJS.Timeout;

  /** A response is cut when its reader took nothing for `stalledMs`. All responses are checked every `checkMs`. */
  constructor(stalledMs: number, checkMs: number) {
    this.#stalledMs = stalledMs;
    this.#timer = setInterval(() => this.#look(performance.now()), Math.min(checkMs, stalledMs / 4));
    this.#timer.unref();
  }

  watch(response: ServerResponse): void {
    this.#responses.set(response, { taken: -1, since: 0 });
  }

  /** The response is complete. It is watched further only while a part of it waits for its reader. */
  made(response: ServerResponse): void {
    if (response.writableLength === 0) this.#responses.delete(response);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const [response, progress] of this.#responses) {
      if (response.writableFinished || response.destroyed) {
        this.#responses.delete(response);
        continue;
      }
      // The rest of the written bytes still waits in this process.
      const taken = (response.socket?.bytesWritten ?? 0) - (response.socket?.writableLength ?? 0);
      if (taken !== progress.taken || response.writableLength === 0) {
        progress.taken = taken;
        progress.since = now;
      } else if (now - progress.since >= this.#stalledMs) {
        this.#responses.delete(response);
        response.destroy();
      }
    }
  }
}
