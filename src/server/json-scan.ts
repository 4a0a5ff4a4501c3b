// Scans JSON text as bytes, without creating its values, to find how deep it nests, how many values it holds and how long its lists are. A
// body over one of these bounds is refused before it is parsed, because a few bytes of JSON can become a large value.
import { invalidRequest } from './request-shape.ts';

export interface JsonBounds {
  /** The deepest nesting of lists and objects. */
  readonly depth: number;
  /** The most values of the text, not counting those in its lists. */
  readonly values: number;
  /** The lists among the fields of the outermost object, by the field's name. */
  readonly lists: Readonly<Record<string, ListBounds>>;
}

interface ListBounds {
  readonly items: number;
  /** The names of the fields of its items, and of the fields inside those. */
  readonly names: ReadonlySet<string>;
}

/** A list that is long enough to be parsed in parts. It is cut at some of its commas. */
export interface LongList {
  readonly field: string;
  /** The offset of the first byte after the opening bracket. */
  readonly start: number;
  /** The offset of the closing bracket. */
  readonly end: number;
  /** The offsets of the commas at which the list is cut. */
  readonly cuts: readonly number[];
}

/**
 * The fewest bytes of a list per value, beyond the first few values. A value takes up to 40 bytes of memory. A message of one character has
 * one value per 15 bytes.
 */
const minBytesPerValue = 10;
const freeValues = 1000;

/** No field has a longer name. */
const maxNameBytes = 100;
const tooManyHint =
  'Send fewer at a time. A session with more messages can be imported on the machine of the server.';
const utf8 = new TextDecoder();

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export class JsonScan {
  readonly #bytes: Uint8Array;
  readonly #bounds: JsonBounds;
  readonly #partBytes: number;
  readonly #lists = new Map<string, LongList>();
  #at = 0;
  #depth = 0;
  #values = 1;
  #inString = false;
  /** True if the outermost value is an object. */
  #hasFields = false;
  /** The offsets of the string that was read last, including its quotation marks. */
  #stringStart = 0;
  #stringEnd = 0;
  #field = '';
  #list: {
    readonly start: number;
    readonly bounds: ListBounds | null;
    items: number;
    values: number;
    cuts: number[];
  } | null = null;

  /** A part of a list has at least `partBytes` bytes. */
  constructor(bytes: Uint8Array, bounds: JsonBounds, partBytes: number) {
    this.#bytes = bytes;
    this.#bounds = bounds;
    this.#partBytes = partBytes;
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The long lists in the order of the text. If a field occurs twice, its last value counts. */
  get longLists(): readonly LongList[] {
    return [...this.#lists.values()].sort((a, b) => a.start - b.start);
  }

  /** Scans at most `count` further bytes. Throws `INVALID_REQUEST` for a text over its bounds. */
  advance(count: number): void {
    const bytes = this.#bytes;
    const end = Math.min(bytes.length, this.#at + count);
    let at = this.#at;
    while (at < end) {
      const byte = bytes[at];
      if (this.#inString) {
        if (byte === backslash) at += 1;
        else if (byte === quote) {
          this.#inString = false;
          this.#stringEnd = at + 1;
        }
      } else if (byte === quote) {
        this.#inString = true;
        this.#stringStart = at;
      } else if (byte === comma) this.#separate(at);
      else if (byte === openBracket || byte === openBrace) this.#open(at, byte);
      else if (byte === closeBracket || byte === closeBrace) this.#close(at);
      else if (byte === colon && this.#depth === 1) this.#readName();
      at += 1;
    }
    this.#at = at;
  }

  #count(at: number): void {
    const list = this.#list;
    if (list !== null && list.bounds !== null) {
      list.values += 1;
      if (list.values <= freeValues + (at - list.start) / minBytesPerValue) return;
      throw this.#refusal('holds more values than a list of its length can have', tooManyHint);
    }
    this.#values += 1;
    if (this.#values > this.#bounds.values) {
      throw this.#refusal(`holds more than the ${this.#bounds.values} values that a request may have`);
    }
  }

  #separate(at: number): void {
    this.#count(at);
    const list = this.#list;
    if (list === null || this.#depth !== 2) return;
    list.items += 1;
    const maxItems = list.bounds?.items ?? Number.POSITIVE_INFINITY;
    if (list.items > maxItems) throw this.#refusal(`holds more than ${maxItems} items`, tooManyHint);
    if (at - (list.cuts.at(-1) ?? list.start) >= this.#partBytes) list.cuts.push(at);
  }

  #open(at: number, byte: number): void {
    this.#count(at);
    this.#depth += 1;
    if (this.#depth > this.#bounds.depth)
      throw this.#refusal(`nests deeper than ${this.#bounds.depth} levels`);
    if (this.#depth === 1) this.#hasFields = byte === openBrace;
    if (this.#depth !== 2 || !this.#hasFields) return;
    const bounds = this.#bounds.lists[this.#field] ?? null;
    this.#list = byte === openBracket ? { start: at + 1, bounds, items: 1, values: 0, cuts: [] } : null;
  }

  #close(at: number): void {
    if (this.#depth === 2 && this.#list !== null) {
      const { start, cuts } = this.#list;
      if (cuts.length > 0) this.#lists.set(this.#field, { field: this.#field, start, end: at, cuts });
      this.#list = null;
    }
    this.#depth -= 1;
  }

  /** Reads the name before a colon of the outermost object. */
  #readName(): void {
    this.#field = '';
    if (this.#stringEnd - this.#stringStart > maxNameBytes) return;
    const text = utf8.decode(this.#bytes.subarray(this.#stringStart, this.#stringEnd));
    try {
      this.#field = String(JSON.parse(text));
    } catch {
      // The parser reports text that is not JSON.
    }
    this.#lists.delete(this.#field);
  }

  #refusal(problem: string, hint?: string) {
    return invalidRequest([{ field: this.#field === '' ? 'body' : this.#field, problem }], hint);
  }
}
