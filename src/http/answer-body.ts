// The bytes of an answer, between the connection that brings them and their one reader: whole, or piece by piece at the reader's pace.
// Not a stream of Node's: of a small answer, making and ending one took as long as all the rest.
import { ChunkQueue } from './chunk-queue.ts';
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
  readonly #waiting = new ChunkQueue();
  readonly #mostBytes: number;
  #received = 0;
  #room = mostWaiting;
  #isPaused = false;
  #end: { readonly failure: unknown } | null = null;
  #wake = () => {};

  /** `mostBytes`: of all that comes, however it is read. */
  constructor(source: BodySource, mostBytes: number) {
    this.#source = source;
    this.#mostBytes = mostBytes;
  }

  push(piece: Uint8Array): void {
    if (this.#end !== null) return;
    this.#received += piece.byteLength;
    if (this.#received > this.#mostBytes) {
      const failure = tooLarge(this.#mostBytes);
      this.end(failure);
      this.#source.abort(failure);
      return;
    }
    this.#waiting.push(piece);
    if (this.#waiting.byteLength > this.#room && !this.#isPaused) {
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
    this.#waiting.clear();
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
        const piece = this.#waiting.shift();
        if (piece !== undefined) {
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
