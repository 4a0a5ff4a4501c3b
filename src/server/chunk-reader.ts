// Reads the bodies of requests chunk by chunk from Node's streams. A web stream over a body takes several times as long to create, and
// again to close when its client disconnects.
import type { Readable } from 'node:stream';
import { ClientDisconnected } from './client-disconnected.ts';

/** The most reads that are rejected in one iteration of the event loop. Thousands of clients can disconnect at once. */
const rejectedAtOnce = 50;

export class ChunkReader {
  #rejections: (() => void)[] = [];

  /**
   * Resolves at the end of the body. Nothing is read while a promise of `take` is pending. If `take` throws, the rest of the body stays
   * unread. Rejects with `ClientDisconnected` when the client disconnects before the end, whether `take` is pending or not.
   */
  async read(body: Readable, take: (chunk: Uint8Array) => Promise<void> | null): Promise<void> {
    if (body.destroyed) throw new ClientDisconnected(body.errored);
    await new Promise<void>((resolve, reject) => {
      const settle = () =>
        body.off('data', onData).off('end', onEnd).off('error', onDisconnect).off('close', onDisconnect);
      let pending: Promise<void> | null = null;
      // Node reports the end even while the stream is paused.
      const onEnd = () => {
        if (pending !== null) return;
        settle();
        resolve();
      };
      const onDisconnect = () => {
        if (body.readableEnded) return;
        settle();
        this.#schedule(() => reject(new ClientDisconnected(body.errored)));
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
      body.on('data', onData).on('end', onEnd).on('error', onDisconnect).on('close', onDisconnect);
    });
  }

  #schedule(rejection: () => void): void {
    this.#rejections.push(rejection);
    if (this.#rejections.length === 1) setImmediate(() => this.#rejectSome());
  }

  #rejectSome(): void {
    for (const reject of this.#rejections.splice(0, rejectedAtOnce)) reject();
    if (this.#rejections.length > 0) setImmediate(() => this.#rejectSome());
  }
}
