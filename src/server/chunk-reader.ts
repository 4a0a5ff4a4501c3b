// Reads the bodies of requests chunk by chunk from Node's streams. A web stream over a body takes several times as long to make, and again to
// end when its client leaves.
import type { Readable } from 'node:stream';
import { ClientDisconnected } from './client-disconnected.ts';

/** How many readers are told in one turn of the event loop that their client has gone. Thousands of clients can go at once. */
const toldAtOnce = 50;

export class ChunkReader {
  #leaving: (() => void)[] = [];

  /**
   * Resolves at the end of the body. Nothing is read while a promise of `take` is pending. If `take` throws, the rest of the body stays
   * unread. Rejects with `ClientDisconnected` when the client leaves before the end, whether `take` is pending or not.
   */
  async read(body: Readable, take: (chunk: Uint8Array) => Promise<void> | null): Promise<void> {
    if (body.destroyed) throw new ClientDisconnected(body.errored);
    await new Promise<void>((resolve, reject) => {
      const settle = () =>
        body.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone);
      let pending: Promise<void> | null = null;
      // Node tells of the end also while the stream is paused.
      const onEnd = () => {
        if (pending !== null) return;
        settle();
        resolve();
      };
      const onGone = () => {
        if (body.readableEnded) return;
        settle();
        this.#leave(() => reject(new ClientDisconnected(body.errored)));
      };
      const onFailure = (error: unknown) => {
        settle();
        body.pause();
        reject(error);
      };
      const onData = (chunk: Uint8Array) => {
        try {
          pending = take(chunk);
          if (pending === null) return;
          body.pause();
          pending.then(() => {
            pending = null;
            if (body.readableEnded) onEnd();
            else body.resume();
          }, onFailure);
        } catch (error) {
          onFailure(error);
        }
      };
      body.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    });
  }

  #leave(tell: () => void): void {
    this.#leaving.push(tell);
    if (this.#leaving.length === 1) setImmediate(() => this.#tellSome());
  }

  #tellSome(): void {
    for (const tell of this.#leaving.splice(0, toldAtOnce)) tell();
    if (this.#leaving.length > 0) setImmediate(() => this.#tellSome());
  }
}
