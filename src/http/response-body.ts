// Passes the bytes of a response body from the connection to their only reader, who reads them whole or chunk by chunk. It is not a Node
// stream, because creating and closing a stream took as long as the rest of a small response.
import { ChunkQueue } from './chunk-queue.ts';
import { tooLarge } from './http-failure.ts';

/** The source of the bytes: a controller of undici's dispatch. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Also closes the connection. */
  abort(reason: Error): void;
}

/** The most bytes that are buffered before the connection is paused. */
const maxBuffered = 64 * 1024;

export class ResponseBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource;
  readonly #buffered = new ChunkQueue();
  readonly #maxBytes: number;
  #received = 0;
  #limit = maxBuffered;
  #isPaused = false;
  #end: { readonly failure: unknown } | null = null;
  #wake = () => {};

  /** `maxBytes` limits all received bytes. */
  constructor(source: BodySource, maxBytes: number) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): void {
    if (this.#end !== null) return;
    this.#received += chunk.byteLength;
    if (this.#received > this.#maxBytes) {
      const failure = tooLarge(this.#maxBytes);
      this.end(failure);
      this.#source.abort(failure);
      return;
    }
    this.#buffered.push(chunk);
    if (this.#buffered.byteLength > this.#limit && !this.#isPaused) {
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

  /** The reader gets the reason next. The buffered bytes are dropped. */
  stop(reason: unknown): void {
    this.#buffered.clear();
    this.#end = { failure: reason };
    this.#wake();
  }

  /**
   * Ends a body that is no longer read. Its connection is closed, because the rest of the body would precede the next response.
   */
  discard(): void {
    if (this.#end !== null) return;
    const reason = new Error('the body was discarded');
    this.end(reason);
    this.#source.abort(reason);
  }

  /** Reads the whole body. Throws a `too_large` failure for more than `maxBytes`. */
  async whole(maxBytes: number): Promise<Uint8Array> {
    this.#limit = maxBytes;
    while (this.#buffered.byteLength <= maxBytes && this.#end === null) await this.#change();
    if (this.#buffered.byteLength > maxBytes) {
      this.discard();
      throw tooLarge(maxBytes);
    }
    this.#throwFailure();
    return this.#buffered.takeAll();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#buffered.shift();
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
      this.discard();
    }
  }

  /** Resolves when more bytes have arrived, or the end. */
  #change(): Promise<void> {
    const change = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return change;
  }

  #throwFailure(): void {
    if (this.#end !== null && this.#end.failure !== null) throw this.#end.failure;
  }
}
