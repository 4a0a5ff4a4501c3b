// Splits a JSON array of any length into its values while the bytes arrive. A top-level value that is not an array is one item; several
// top-level values in a row are items, too. Each item is parsed separately, so an invalid item does not affect the others.
import { isAscii, isUtf8, transcode } from 'node:buffer';
import { ParleyError } from '../../service/errors.ts';
import { importLimits } from './import-limits.ts';

export interface JsonItem {
  /** `item 3`. */
  readonly place: string;
  /** The size of a value that was read. */
  readonly bytes?: number;
  /** Undefined if there is a failure. */
  readonly value: unknown;
  readonly failure: ParleyError | null;
}

const quote = 0x22;
const backslash = 0x5c;
/** Strings up to this many bytes are searched byte by byte. */
const shortString = 48;
/** For values up to this many bytes, another copy of the text does not matter. */
const shortItem = 1024 * 1024;

export async function* jsonItems(
  chunks: AsyncIterable<Uint8Array>,
  limit: number = importLimits.itemBytes,
): AsyncGenerator<JsonItem, void> {
  const cutter = new ItemCutter(limit);
  for await (const chunk of chunks) {
    for (const item of cutter.push(chunk)) yield item;
  }
  const last = cutter.end();
  if (last !== null) yield last;
}

class ItemCutter {
  readonly #limit: number;
  #isInString = false;
  /** True if the next byte of a string is escaped. */
  #isEscaped = false;
  #depth = 0;
  /** 1 inside the top-level array. */
  #base = 0;
  #hasStarted = false;
  #number = 0;
  #offset = 0;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #problem: string | null = null;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The loop keeps its state in local variables, because it visits every byte outside of strings. */
  *push(chunk: Uint8Array): Generator<JsonItem> {
    const { length } = chunk;
    let start = 0;
    let at = this.#isInString ? this.#endOfString(chunk, 0) : 0;
    let depth = this.#depth;
    let base = this.#base;
    while (at < length) {
      const byte = chunk[at] as number;
      if (byte === quote) {
        // Most strings are so short that a loop is faster than `indexOf`.
        const near = Math.min(length, at + shortString);
        let end = at + 1;
        while (end < near && chunk[end] !== quote && chunk[end] !== backslash) end += 1;
        if (end < near && chunk[end] === quote) at = end + 1;
        else {
          this.#isInString = true;
          at = this.#endOfString(chunk, at + 1);
        }
        continue;
      }
      if (byte === 0x7b || byte === 0x5b) {
        if (!this.#hasStarted && byte === 0x5b) base = 1;
        else if (depth === base) start = at;
        this.#hasStarted = true;
        depth += 1;
        if (depth > importLimits.depth) this.#problem ??= `is nested deeper than ${importLimits.depth}`;
      } else if ((byte === 0x7d || byte === 0x5d) && depth > 0) {
        depth -= 1;
        if (depth === base && !(base === 1 && depth === 0)) {
          this.#keep(chunk.subarray(start, at + 1));
          yield this.#item(null);
          start = at + 1;
        } else if (depth === 0) base = 0;
      }
      at += 1;
    }
    this.#depth = depth;
    this.#base = base;
    if (depth > base) this.#keep(chunk.subarray(start));
    this.#offset += length;
  }

  end(): JsonItem | null {
    if (this.#depth === 0) return null;
    const item =
      this.#depth > this.#base
        ? this.#item('is incomplete: the file ends in the middle of it')
        : brokenItem(`byte ${this.#offset}`, 'is the end of the file, but the array is not closed');
    return { ...item, failure: item.failure?.with({ hint: 'Only what comes before it was read.' }) ?? null };
  }

  /** The position after the end of the string, or the end of the chunk. */
  #endOfString(chunk: Uint8Array, from: number): number {
    let at = from;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at += 1;
    }
    for (;;) {
      const end = chunk.indexOf(quote, at);
      const last = end === -1 ? chunk.length : end;
      let slashes = 0;
      while (last - slashes > at && chunk[last - slashes - 1] === backslash) slashes += 1;
      if (end === -1) {
        this.#isEscaped = slashes % 2 === 1;
        return chunk.length;
      }
      if (slashes % 2 === 0) {
        this.#isInString = false;
        return end + 1;
      }
      at = end + 1;
    }
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#limit) {
      this.#problem ??= `has more than ${this.#limit} bytes, the limit of a conversation`;
      this.#parts = [];
    } else if (this.#problem === null) this.#parts.push(bytes);
  }

  #item(cut: string | null): JsonItem {
    this.#number += 1;
    const place = `item ${this.#number}`;
    const parts = this.#parts;
    const problem = cut ?? this.#problem;
    this.#parts = [];
    this.#bytes = 0;
    this.#problem = null;
    if (problem !== null) return brokenItem(place, problem);
    return parsedItem(place, parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts));
  }
}

/** Parses the bytes of one value. */
export function parsedItem(place: string, bytes: Uint8Array): JsonItem {
  if (!isUtf8(bytes)) return brokenItem(place, 'is not UTF-8');
  const text = textOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (hasMoreValues(text, importLimits.values))
    return brokenItem(place, `has more than ${importLimits.values} values, the limit of a conversation`);
  try {
    return { place, bytes: bytes.length, value: JSON.parse(text), failure: null };
  } catch {
    return brokenItem(place, 'is not JSON');
  }
}

/** Before Node 24, `transcode` takes half the time of `toString` for text that is not ASCII. */
function textOf(bytes: Buffer): string {
  if (bytes.length > shortItem || isAscii(bytes)) return bytes.toString();
  return transcode(bytes, 'utf8', 'utf16le').toString('utf16le');
}

/** True for JSON with more than `maxValues` values. Either for text that is not JSON. */
function hasMoreValues(text: string, maxValues: number): boolean {
  // A value takes at least two characters: itself and a comma.
  if (text.length <= maxValues) return false;
  let count = 0;
  for (let at = 0; at < text.length && count <= maxValues; at += 1) {
    const character = text.charCodeAt(at);
    if (character === quote) at = closingQuote(text, at);
    // Each of these precedes a value.
    else if (character === 0x2c || character === 0x5b || character === 0x7b) count += 1;
  }
  return count > maxValues;
}

function closingQuote(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** True for a value that is nested deeper than the limit. */
export function isTooDeep(bytes: Uint8Array): boolean {
  const { length } = bytes;
  if (length <= 2 * importLimits.depth) return false;
  let depth = 0;
  for (let at = 0; at < length && depth <= importLimits.depth; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      for (at += 1; at < length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
    } else if (byte === 0x7b || byte === 0x5b) depth += 1;
    else if (byte === 0x7d || byte === 0x5d) depth -= 1;
  }
  return depth > importLimits.depth;
}

export function brokenItem(place: string, problem: string): JsonItem {
  return { place, value: undefined, failure: broken(place, problem) };
}

export function broken(place: string, problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The data at ${place} ${problem}.`, {
    hint: 'It was skipped; the rest was read.',
  });
}
