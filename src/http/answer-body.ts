// The bytes of an answer, between the connection that brings them and their one reader: whole, or piece by piece at the reader's pace.
// Not a stream of Node's: of a small answer, making and ending one took as long as all the rest.
import { tooLarge } from './http-failure.ts';

/** Where the bytes come from: a controller of undici's dispatch. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** Takes the connection with it. */
  abort(reason: Error): void;
}

/** Bytes that may wait for a reader of pieces before the connection is held back. */
const mostWaiting = 64 * 1024;

export class AnswerBody implements AsyncIterable<Uint8Array> {
  readonly #source: BodySource;
  #pieces: Uint8Array[] = [];
  #waiting = 0;
  #room = mostWaiting;
  #isPaused = false;
  #end: { readonly failure: unknown } | null = null;
  #wake = () => {};

  constructor(source: BodySource) {
    this.#source = source;
  }

  push(piece: Uint8Array): void {
    if (this.#end !== null) return;
    this.#pieces.push(piece);
    this.#waiting += piece.byteLength;
    if (this.#waiting > this.#room && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#wake();
  }

  /** `failure`: null when all has come. What came before is read first. */
  end(failure: unknown): void {
    this.#end ??= { failure };
    this.#wake();
  }

  /** The reader gets the reason next, whatever still waits for it. */
  stop(reason: unknown): void {
    this.#pieces = [];
    this.#end = { failure: reason };
    this.#wake();
  }

  /** Nobody reads on: an answer that is not read to its end takes its connection with it. */
  giveUp(): void {
    if (this.#end !== null) return;
    const reason = new Error('not read to its end');
    this.end(reason);
    this.#source.abort(reason);
  }

  /** `unreadable` for more than `mostBytes`. */
  async whole(mostBytes: number): Promise<Uint8Array> {
    this.#room = mostBytes;
    while (this.#waiting <= mostBytes && this.#end === null) await this.#change();
    if (this.#waiting > mostBytes) {
      this.giveUp();
      throw tooLarge(mostBytes);
    }
    this.#throwFailure();
    const [first] = this.#pieces;
    return first !== undefined && this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#waiting -= piece.byteLength;
          yield piece;
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

  /** Resolves when more has come, or the end. */
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
