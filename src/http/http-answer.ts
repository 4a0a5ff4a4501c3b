// An answer to read once: whole, within the time for whole answers, or as it comes, with a clock on its silence. A clock runs only
// while something is waited for: a reader that pauses is no silent server.
import type { Clock } from './clock.ts';
import { decoded } from './content-encoding.ts';
import type { AnswerHead, HttpHeaders } from './http-exchange.ts';
import { HttpFailure } from './http-failure.ts';

export class HttpAnswer {
  readonly status: number;
  readonly #headers: HttpHeaders;
  readonly #bytes: AsyncIterable<Uint8Array>;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #release: () => void;

  /** The clock runs already. `release` is called when the body is read to its end, or given up. */
  constructor(head: AnswerHead, clock: Clock, silenceMs: number, release: () => void) {
    this.status = head.status;
    this.#headers = head.headers;
    this.#bytes = head.bytes;
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#release = release;
  }

  header(name: string): string | null {
    const value = this.#headers[name.toLowerCase()];
    return typeof value === 'object' ? value.join(', ') : (value ?? null);
  }

  /** The whole body. `unreadable` for more than `mostBytes` (unpacked), or for bytes that are not UTF-8. */
  async text(mostBytes: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of decoded(this.#bytes, this.header('content-encoding'))) {
        size += chunk.byteLength;
        if (size > mostBytes) {
          throw new HttpFailure('unreadable', true, `the answer is larger than ${mostBytes} bytes`);
        }
        chunks.push(chunk);
      }
    } finally {
      this.#release();
    }
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
    } catch (error) {
      throw new HttpFailure('unreadable', true, 'the answer is not UTF-8', error);
    }
  }

  /** The body as it comes: until its first byte within the time for answers, then with no long silence. */
  async *stream(): AsyncGenerator<Uint8Array> {
    try {
      yield* decoded(this.#timed(), this.header('content-encoding'));
    } finally {
      this.#release();
    }
  }

  async *#timed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#bytes) {
      this.#clock.stop();
      yield chunk;
      this.#clock.start(this.#silenceMs);
    }
  }
}
