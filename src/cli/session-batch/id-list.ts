// The ids of one batch, in the order given, each told from its repetitions. A million of them must not fill the memory: they lie
// as lines in one buffer, beyond that in a file, and only a table of 8 bytes an id says where.
import { readSync, writeSync } from 'node:fs';
import { linesOf } from './lines.ts';

export interface BatchEntry {
  readonly id: string;
  /** The distinct ids are numbered from 0; a repetition has the number of none, -1. */
  readonly number: number;
}

const bufferBytes = 256 * 1024;
/** Offsets are kept in 32 bits. */
const mostBytes = 2 ** 32 - 1;

/** Where ids go that do not fit the memory. */
export interface IdListFile {
  /** Called once, if the ids do not fit the buffer or are to be kept: gives an empty file to write and read. */
  open(): number;
  /** What a write that failed means. */
  failure(error: unknown): unknown;
}

export class IdList {
  readonly #place: IdListFile;
  #file: number | null = null;
  /** Bytes that are in the file; those in the buffer come after them. */
  #written = 0;
  readonly #buffer = Buffer.allocUnsafe(bufferBytes);
  #waiting = 0;
  #count = 0;
  #repeated = 0;
  #hashes = new Uint32Array(1024);
  /** Where the line begins, plus 1; 0 for a free place. */
  #offsets = new Uint32Array(1024);

  constructor(place: IdListFile) {
    this.#place = place;
  }

  /** Of distinct ids. */
  get count(): number {
    return this.#count;
  }

  get repeated(): number {
    return this.#repeated;
  }

  get bytes(): number {
    return this.#written + this.#waiting;
  }

  /** False for an id that is in the list already: that is noted as a repetition. */
  add(id: string): boolean {
    const hash = hashOf(id);
    const place = this.#placeOf(id, hash);
    const isNew = this.#offsets[place] === 0;
    if (isNew) {
      this.#hashes[place] = hash;
      this.#offsets[place] = this.bytes + 1;
      this.#count += 1;
    } else {
      this.#repeated += 1;
    }
    // No id holds a space, so that one marks a repetition.
    this.#append(isNew ? `${id}\n` : ` ${id}\n`);
    if (this.#count * 2 > this.#offsets.length) this.#grow();
    return isNew;
  }

  has(id: string): boolean {
    return this.#offsets[this.#placeOf(id, hashOf(id))] !== 0;
  }

  *entries(): Generator<BatchEntry> {
    let number = 0;
    for (const line of this.#lines()) {
      if (line.startsWith(' ')) yield { id: line.slice(1), number: -1 };
      else yield { id: line, number: number++ };
    }
  }

  /** The first ids, each once. */
  sample(most: number): readonly string[] {
    const ids: string[] = [];
    for (const { id, number } of this.entries()) {
      if (ids.length === most) break;
      if (number >= 0) ids.push(id);
    }
    return ids;
  }

  /** Puts all of it into the file, and gives that. */
  intoFile(): number {
    this.#flush();
    this.#file ??= this.#place.open();
    return this.#file;
  }

  /** The table is needed only while ids are added. */
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
    // Never more than 3 bytes a unit; an id has 255 characters at most.
    if (this.#waiting + line.length * 3 > bufferBytes) this.#flush();
    if (this.bytes + line.length * 3 > mostBytes) throw new RangeError('A list of ids ends at 4 GiB.');
    this.#waiting += this.#buffer.write(line, this.#waiting);
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#file ??= this.#place.open();
    try {
      for (let from = 0; from < this.#waiting; ) {
        from += writeSync(this.#file, this.#buffer, from, this.#waiting - from, this.#written + from);
      }
    } catch (error) {
      throw this.#place.failure(error);
    }
    this.#written += this.#waiting;
    this.#waiting = 0;
  }

  /** Where the id is in the table, or the free place where it belongs. */
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
    // A line is wholly in the file or wholly in the buffer.
    return bytes.subarray(0, readSync(this.#file ?? -1, bytes, 0, length, offset));
  }

  #grow(): void {
    const hashes = this.#hashes;
    const offsets = this.#offsets;
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

/** FNV-1a with a last mixing: ids that differ in their last characters alone must spread over the table. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
