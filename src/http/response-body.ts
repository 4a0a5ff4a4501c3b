// The bytes of a response body between the connection and their one reader, who takes them whole or chunk by chunk. It is no stream of
// Node: making and ending such a stream took as long as all other work of a small response.
import { ChunkQueue } from './chunk-queue.ts';
import { tooLarge } from './http-failure.ts';

/** The source of the bytes: a controller of undici's dispatch. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Also closes the connection. */
  abort(reason: Error): void;
}

/** How many bytes may wait for a reader of chunks before the connection is paused. */
const mostWaiting = 64 * 1024;

export class ResponseBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource;
  readonly #waiting = new ChunkQueue();
  readonly #mostBytes: number;
  #received = 0;
  #room = mostWaiting;
  #isPaused = false;
  #end: { readonly failure: unknown } | null = null;
  #wake = () => {};

  /** `mostBytes` limits all bytes that arrive, however they are read. */
  constructor(source: BodySource, mostBytes: number) {
    this.#source = source;
    this.#mostBytes = mostBytes;
  }

  push(chunk: Uint8Array): void {
    if (this.#end !== null) return;
    this.#received += chunk.byteLength;
    if (this.#received > this.#mostBytes) {
      const failure = tooLarge(this.#mostBytes);
      this.end(failure);
      this.#source.abort(failure);
      return;
    }
    this.#waiting.push(chunk);
    if (this.#waiting.byteLength > this.#room && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wake();
  }

  /** `failure` is null when the body is complete. The reader first gets the bytes that arrived before the failure. */
  end(failure: unknown): void {
    this.#end ??= { failure };
    this.#wake();
  }

  /** The reader gets the reason next; the bytes that still wait are dropped. */
  stop(reason: unknown): void {
    this.#waiting.clear();
    this.#end = { failure: reason };
    this.#wake();
  }

  /**
   * Ends a body that nobody reads any more. Its connection is closed, because the rest of the body would stand before the next response.
   */
  giveUp(): void {
    if (this.#end !== null) return;
    const reason = new Error('not read to its end');
    this.end(reason);
    this.#source.abort(reason);
  }

  /** Throws a `too_large` failure for more than `mostBytes`. */
  async whole(mostBytes: number): Promise<Uint8Array> {
    this.#room = mostBytes;
    while (this.#waiting.byteLength <= mostBytes && this.#end === null) await this.#change();
    if (this.#waiting.byteLength > mostBytes) {
      this.giveUp();
      throw tooLarge(mostBytes);
    }
    this.#throwFailure();
    return this.#waiting.takeAll();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#waiting.shift();
        if (chunk !== undefined) {
          yield chunk;
        } else if (this.#end === null) {
          await this.#change();
        } else {
          this.#throwFailure();
          return;
        }
      }
    } finally {
      this.giveUp();
    }
  }

  /** Resolves when more bytes have arrived, or the end. */
  #change(): Promise<void> {
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return changed;
  }

  #throwFailure(): void {
    if (this.#end !== null && this.#end.failure !== null) throw this.#end.failure;
  }
}
