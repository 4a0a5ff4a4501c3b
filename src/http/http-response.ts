// A response that can be read once: whole, within the time limit for responses, or chunk by chunk, with a deadline for each chunk. A deadline
// runs only while the reader waits for bytes.
import { ChunkQueue } from './chunk-queue.ts';
import { decompress } from './content-encoding.ts';
import type { HttpHeaders, ResponseHead } from './http-exchange.ts';
import { HttpFailure } from './http-failure.ts';
import type { ResponseBody } from './response-body.ts';
import type { Watchdog, WatchedExchange } from './watchdog.ts';

/** The status, the headers and the body of one response. */
export class HttpResponse {
  readonly status: number;
  readonly #headers: HttpHeaders;
  readonly #body: ResponseBody;
  readonly #watched: WatchedExchange;
  readonly #watchdog: Watchdog;
  readonly #maxBytes: number;

  /**
   * The watchdog already watches the exchange, and stops when the body is read to its end or discarded. `maxBytes` limits the decompressed
   * body of `stream`.
   */
  constructor(head: ResponseHead, watched: WatchedExchange, watchdog: Watchdog, maxBytes: number) {
    this.status = head.status;
    this.#headers = head.headers;
    this.#body = head.body;
    this.#watched = watched;
    this.#watchdog = watchdog;
    this.#maxBytes = maxBytes;
  }

  header(name: string): string | null {
    const value = this.#headers[name.toLowerCase()];
    return typeof value === 'object' ? value.join(', ') : (value ?? null);
  }

  /**
   * Reads the whole body. Throws a `too_large` failure for more than `maxBytes` (decompressed), and an `unreadable` one for bytes that are
   * not UTF-8.
   */
  async text(maxBytes: number): Promise<string> {
    let bytes: Uint8Array;
    try {
      const encoding = this.header('content-encoding');
      bytes = await (encoding === null
        ? this.#body.whole(maxBytes)
        : collect(decompress(this.#body, encoding, maxBytes)));
    } finally {
      this.#watchdog.release(this.#watched);
    }
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch (error) {
      throw new HttpFailure('unreadable', 'the response is not UTF-8', { cause: error });
    }
  }

  /** Reads the body chunk by chunk. The first chunk must arrive within the time limit for responses, each later one within that for silence. */
  async *stream(): AsyncGenerator<Uint8Array> {
    try {
      yield* decompress(this.#chunks(), this.header('content-encoding'), this.#maxBytes);
    } finally {
      this.#watchdog.release(this.#watched);
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#body) {
      this.#watchdog.pause(this.#watched);
      yield chunk;
      this.#watchdog.resume(this.#watched);
    }
  }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all = new ChunkQueue();
  for await (const chunk of chunks) all.push(chunk);
  return all.takeAll();
}
