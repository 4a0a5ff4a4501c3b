// Decodes bytes that arrive in chunks. It reports the first byte that is not UTF-8, or the exceeded limit. It repairs nothing.
import { isUtf8 } from 'node:buffer';
import { ParleyError } from '../../service/errors.ts';

interface Utf8Options {
  /** The name of the source in an error: `Standard input`. */
  readonly name: string;
  /** The maximum number of bytes, without a byte order mark. More bytes are refused as soon as they arrive. Null for no limit. */
  readonly limit: number | null;
}

/** Bytes that are not UTF-8 text. `before` is the text before them in the same chunk, for a caller that reports another position. */
export class NotText extends ParleyError {
  readonly fault: string;
  readonly before: string;

  constructor(name: string, fault: string, offset: number, before: string) {
    super('INVALID_REQUEST', `${name} has ${fault} at offset ${offset}.`, {
      hint: 'Only text in UTF-8 can be sent; iconv converts other encodings, and pdftotext extracts the text of a PDF.',
      details: [{ field: 'message', problem: `is not text at byte offset ${offset}` }],
    });
    this.fault = fault;
    this.before = before;
  }
}

export class Utf8Reader {
  readonly #name: string;
  readonly #limit: number | null;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  /** The last bytes, at most 3. A character that began in an earlier chunk starts in them. */
  #tail: Uint8Array = new Uint8Array(0);
  #bytes = 0;
  #markBytes = 0;
  #atStart = true;

  constructor({ name, limit }: Utf8Options) {
    this.#name = name;
    this.#limit = limit;
  }

  push(chunk: Uint8Array): string {
    const nul = chunk.indexOf(0);
    const text = this.#decode(nul === -1 ? chunk : chunk.subarray(0, nul), true);
    if (nul !== -1) throw new NotText(this.#name, 'a NUL byte', this.#bytes, text);
    if (this.#limit !== null && this.#bytes - this.#markBytes > this.#limit) {
      throw new ParleyError(
        'PAYLOAD_TOO_LARGE',
        `${this.#name} has more than ${this.#limit} bytes, the limit of a message.`,
        {
          hint: 'Send it in parts.',
          details: [{ field: 'message', problem: `is over ${this.#limit} bytes` }],
        },
      );
    }
    return text;
  }

  end(): string {
    return this.#decode(new Uint8Array(0), false);
  }

  #decode(chunk: Uint8Array, stream: boolean): string {
    let text: string;
    try {
      text = this.#decoder.decode(chunk, { stream });
    } catch {
      const near = Buffer.concat([this.#tail, chunk]);
      const from = characterStart(this.#tail);
      const at = from + firstBadByte(near.subarray(from));
      const byte = (near[at] ?? 0).toString(16).padStart(2, '0');
      const text = near.toString('utf8', from, at);
      const before = this.#atStart && text.startsWith('\ufeff') ? text.slice(1) : text;
      const offset = this.#bytes - this.#tail.length + at;
      throw new NotText(this.#name, `the byte 0x${byte}, which is not UTF-8,`, offset, before);
    }
    this.#bytes += chunk.length;
    this.#tail = chunk.length >= 3 ? chunk.subarray(-3) : Buffer.concat([this.#tail, chunk]).subarray(-3);
    if (!this.#atStart || text === '') return text;
    this.#atStart = false;
    if (!text.startsWith('\ufeff')) return text;
    this.#markBytes = 3;
    return text.slice(1);
  }
}

/** The position of an unfinished character at the end of valid UTF-8, or the length if there is none. */
function characterStart(tail: Uint8Array): number {
  for (let at = tail.length - 1; at >= 0; at--) {
    const byte = tail[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return at + sequenceLength(byte) > tail.length ? at : tail.length;
  }
  return tail.length;
}

/** The position of the first sequence that is not a character. TextDecoder reports invalid bytes without their position. */
function firstBadByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes[at] ?? 0);
    if (length === 0 || at + length > bytes.length || !isUtf8(bytes.subarray(at, at + length))) break;
    at += length;
  }
  return at;
}

/** The length of a character by its first byte. 0 for a byte that cannot start a character. */
function sequenceLength(first: number): number {
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) return 3;
  return first < 0xf5 ? 4 : 0;
}
