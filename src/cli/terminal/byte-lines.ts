// Splits bytes that arrive in chunks into lines of bytes. A line over the limit is discarded while it arrives, and is reported without its
// bytes.

export interface ByteLine {
  /** The number of the line. The first line is 1. */
  readonly number: number;
  /** The line without its line end (LF or CRLF). Null for a line over the limit. */
  readonly bytes: Uint8Array | null;
  /** The number of bytes up to the end of this line. */
  readonly end: number;
  /** False if the last line has no line end. */
  readonly isClosed: boolean;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from('\ufeff');

/** Skips a byte order mark at the start. `limit` is the length of a line in bytes. */
export async function* byteLines(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<ByteLine, void> {
  const openLine = new HeldLine(limit);
  let number = 0;
  let end = 0;
  const close = (isClosed: boolean): ByteLine => {
    number += 1;
    return { number, bytes: openLine.take(number === 1), end, isClosed };
  };
  for await (const chunk of source) {
    let start = 0;
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, start)) {
      openLine.add(chunk.subarray(start, at));
      end += at + 1 - start;
      start = at + 1;
      yield close(true);
    }
    openLine.add(chunk.subarray(start));
    end += chunk.length - start;
  }
  if (!openLine.isEmpty) yield close(false);
}

class HeldLine {
  readonly #limit: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#length += chunk.length;
    if (this.#length > this.#limit) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  take(isFirst: boolean): Uint8Array | null {
    const [only = new Uint8Array(0)] = this.#chunks;
    const whole = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : only;
    const isTooLong = this.#length > this.#limit;
    this.#chunks = [];
    this.#length = 0;
    if (isTooLong) return null;
    const end = whole.at(-1) === carriageReturn ? whole.length - 1 : whole.length;
    const isMarked = isFirst && byteOrderMark.equals(whole.subarray(0, byteOrderMark.length));
    return whole.subarray(isMarked ? byteOrderMark.length : 0, end);
  }
}
