// Cuts responses whose reader has stopped taking bytes. Node's own time-out of a socket starts anew with each write, taken or not, so it
// lets a stalled reader stay for up to twice as long.
import type { ServerResponse } from 'node:http';

interface Progress {
  taken: number;
  since: number;
}

export class StalledReaders {
  readonly #stalledMs: number;
  readonly #answers = new Map<ServerResponse, Progress>();
  readonly #timer: NodeJS.Timeout;

  /** A response is cut when its reader took nothing for `stalledMs`. All responses are checked every `checkMs`. */
  constructor(stalledMs: number, checkMs: number) {
    this.#stalledMs = stalledMs;
    this.#timer = setInterval(() => this.#look(performance.now()), Math.min(checkMs, stalledMs / 4));
    this.#timer.unref();
  }

  watch(answer: ServerResponse): void {
    this.#answers.set(answer, { taken: -1, since: 0 });
  }

  /** The response is complete. It is watched further only while a part of it waits for its reader. */
  made(answer: ServerResponse): void {
    if (answer.writableLength === 0) this.#answers.delete(answer);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    for (const [answer, progress] of this.#answers) {
      if (answer.writableFinished || answer.destroyed) {
        this.#answers.delete(answer);
        continue;
      }
      // The rest of the written bytes still waits in this process.
      const taken = (answer.socket?.bytesWritten ?? 0) - (answer.socket?.writableLength ?? 0);
      if (taken !== progress.taken || answer.writableLength === 0) {
        progress.taken = taken;
        progress.since = now;
      } else if (now - progress.since >= this.#stalledMs) {
        this.#answers.delete(answer);
        answer.destroy();
      }
    }
  }
}
