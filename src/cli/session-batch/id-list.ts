// The ids of one batch in their order, with repetitions marked. The lines stand in a buffer, and beyond its size in a file. A table of 8
// bytes per id holds their places; see docs/decisions/2026-11-22-ids-in-a-table.md.
import { appendFileSync, readSync } from 'node:fs';
import { linesOf } from './lines.ts';

export interface BatchEntry {
  readonly id: string;
  /** The number of a distinct id, from 0; -1 for a repetition. */
  readonly number: number;
  /** True if the id was sent before without a known answer. If it is not found now, it was done then. */
  readonly inDoubt?: boolean;
}

const bufferBytes = 256 * 1024;
/** The table holds places in 32 bits. */
const mostBytes = 2 ** 32 - 1;

/** The file for ids that do not fit into the buffer. */
export interface IdListFile {
  /** Called at most once, if the ids do not fit into the buffer or must be kept. Opens an empty file for appending and reading. */
  open(): number;
  /** The failure to report for a failed write. */
  failure(error: unknown): unknown;
  /** From 0 to below 1. */
  random(): number;
}

export class IdList {
  readonly #place: IdListFile;
  readonly #hash: Hash;
  #file: number | null = null;
  /** How many bytes are in the file. The bytes in the buffer follow them. */
  #written = 0;
  readonly #buffer = Buffer.allocUnsafe(bufferBytes);
  #waiting = 0;
  #count = 0;
  /** A hash table with open addressing: an id stands in the first free place from that of its hash. */
  #hashes = new Uint32Array(1024);
  /** The start of the id's line plus 1; 0 marks a free place. */
  #offsets = new Uint32Array(1024);

  constructor(place: IdListFile) {
    this.#place = place;
    this.#hash = newHash(place.random);
  }

  /** The number of distinct ids. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#written + this.#waiting;
  }

  /** Adds an id. False if the list holds it already; it is then added as a repetition. */
  add(id: string): boolean {
    const hash = this.#hash(id);
    const place = this.#placeOf(id, hash);
    const isNew = this.#offsets[place] === 0;
    if (isNew) {
      this.#hashes[place] = hash;
      this.#offsets[place] = this.bytes + 1;
      this.#count += 1;
    }
    // No id contains a space, so a leading space marks a repetition.
    this.#append(isNew ? `${id}\n` : ` ${id}\n`);
    if (this.#count * 2 > this.#offsets.length) this.#grow();
    return isNew;
  }

  has(id: string): boolean {
    return this.#offsets[this.#placeOf(id, this.#hash(id))] !== 0;
  }

  *entries(): Generator<BatchEntry> {
    let number = 0;
    for (const line of this.#lines()) {
      if (line.startsWith(' ')) yield { id: line.slice(1), number: -1 };
      else yield { id: line, number: number++ };
    }
  }

  /** The first and the last distinct ids, at most so many of each: of a filter, the newest and the oldest in its order. */
  ends(most: number): { readonly first: readonly string[]; readonly last: readonly string[] } {
    const first: string[] = [];
    const last: string[] = [];
    for (const { id, number } of this.entries()) {
      if (number < 0) continue;
      if (first.length < most) first.push(id);
      else if (number >= this.count - most) last.push(id);
    }
    return { first, last };
  }

  /** Moves all ids into the file and returns its descriptor. */
  intoFile(): number {
    this.#flush();
    this.#file ??= this.#place.open();
    return this.#file;
  }

  /** Frees the table, which is needed only while ids are added. */
  complete(): void {
    this.#hashes = new Uint32Array(0);
    this.#offsets = new Uint32Array(0);
  }

  *#lines(): Generator<string> {
    if (this.#file !== null) yield* linesOf(this.#file, 0, this.#written);
    const rest = this.#buffer.toString('utf8', 0, this.#waiting);
    for (const line of rest.split('\n')) if (line !== '') yield line;
  }

  #append(line: string): void {
    // A UTF-16 unit takes at most 3 bytes, and an id has at most 255 units.
    if (this.#waiting + line.length * 3 > bufferBytes) this.#flush();
    if (this.bytes + line.length * 3 > mostBytes) throw new RangeError('A list of ids ends at 4 GiB.');
    this.#waiting += this.#buffer.write(line, this.#waiting);
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#file ??= this.#place.open();
    try {
      appendFileSync(this.#file, this.#buffer.subarray(0, this.#waiting));
    } catch (error) {
      throw this.#place.failure(error);
    }
    this.#written += this.#waiting;
    this.#waiting = 0;
  }

  /** The place of the id in the table, or the free place for it. */
  #placeOf(id: string, hash: number): number {
    const last = this.#offsets.length - 1;
    let bytes: Buffer | null = null;
    for (let place = hash & last; ; place = (place + 1) & last) {
      const offset = this.#offsets[place] ?? 0;
      if (offset === 0) return place;
      if (this.#hashes[place] !== hash) continue;
      bytes ??= Buffer.from(`${id}\n`);
      if (this.#bytesAt(offset - 1, bytes.length).equals(bytes)) return place;
    }
  }

  #bytesAt(offset: number, length: number): Buffer {
    const at = offset - this.#written;
    if (at >= 0) return this.#buffer.subarray(at, Math.min(at + length, this.#waiting));
    const bytes = Buffer.alloc(length);
    // A line stands either wholly in the file or wholly in the buffer.
    return bytes.subarray(0, readSync(this.#file ?? -1, bytes, 0, length, offset));
  }

  #grow(): void {
    const [hashes, offsets] = [this.#hashes, this.#offsets];
    this.#hashes = new Uint32Array(hashes.length * 2);
    this.#offsets = new Uint32Array(hashes.length * 2);
    const last = this.#offsets.length - 1;
    offsets.forEach((offset, index) => {
      if (offset === 0) return;
      const hash = hashes[index] ?? 0;
      let place = hash & last;
      while (this.#offsets[place] !== 0) place = (place + 1) & last;
      this.#hashes[place] = hash;
      this.#offsets[place] = offset;
    });
  }
}

type Hash = (text: string) => number;

/**
 * A hash in the manner of FNV-1a that is another one in each list: a server must not be able to choose ids that all have one place in the
 * table. It is mixed once more at the end, so that ids that differ only in their last characters spread over the table.
 */
function newHash(random: () => number): Hash {
  const start = random() * 2 ** 32;
  const factor = (random() * 2 ** 32) | 1;
  return (text) => {
    let hash = start | 0;
    for (let at = 0; at < text.length; at++) {
      hash = Math.imul(hash ^ text.charCodeAt(at), factor);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  };
}
