// The ids of one batch in their order, with repetitions marked. The lines are kept in a buffer, and in a file if they exceed it. A hash table
// of 8 bytes per id holds their offsets; see docs/decisions/2026-11-22-ids-in-a-table.md.
import { appendFileSync, readSync } from 'node:fs';
import { linesOf } from './lines.ts';

export interface BatchEntry {
  readonly id: string;
  /** The number of a distinct id, from 0; -1 for a repetition. */
  readonly number: number;
  /** True if the id was sent before but its result is unknown. If it is not found now, it was done then. */
  readonly isInDoubt?: boolean;
}

const bufferBytes = 256 * 1024;
/** The table holds offsets of 32 bits. */
const maxBytes = 2 ** 32 - 1;

/** The file for ids that do not fit into the buffer. */
interface IdListFile {
  /** Opens an empty file for appending and reading. Called at most once, if the ids do not fit into the buffer or must be kept. */
  open(): number;
  /** The failure to report for a failed write. */
  failure(error: unknown): unknown;
  /** From 0 to below 1. */
  random(): number;
}

export class IdList {
  readonly #storage: IdListFile;
  readonly #hash: Hash;
  #file: number | null = null;
  /** How many bytes are in the file. The bytes in the buffer follow them. */
  #written = 0;
  readonly #buffer = Buffer.allocUnsafe(bufferBytes);
  #waiting = 0;
  #count = 0;
  /** A hash table with open addressing: an id is in the first free slot from that of its hash. */
  #hashes = new Uint32Array(1024);
  /** The offset of the id's line plus 1; 0 marks a free slot. */
  #offsets = new Uint32Array(1024);

  constructor(storage: IdListFile) {
    this.#storage = storage;
    this.#hash = newHash(storage.random);
  }

  /** The number of distinct ids. */
  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#written + this.#waiting;
  }

  /** Adds an id. Returns false if the list contains it already, and adds it as a repetition. */
  add(id: string): boolean {
    const hash = this.#hash(id);
    const slot = this.#slotOf(id, hash);
    const isNew = this.#offsets[slot] === 0;
    if (isNew) {
      this.#hashes[slot] = hash;
      this.#offsets[slot] = this.bytes + 1;
      this.#count += 1;
    }
    // No id contains a space, so a leading space marks a repetition.
    this.#append(isNew ? `${id}\n` : ` ${id}\n`);
    if (this.#count * 2 > this.#offsets.length) this.#grow();
    return isNew;
  }

  has(id: string): boolean {
    return this.#offsets[this.#slotOf(id, this.#hash(id))] !== 0;
  }

  *entries(): Generator<BatchEntry> {
    let number = 0;
    for (const line of this.#lines()) {
      if (line.startsWith(' ')) yield { id: line.slice(1), number: -1 };
      else yield { id: line, number: number++ };
    }
  }

  /** The first and the last distinct ids, at most `count` of each. */
  ends(count: number): { readonly first: readonly string[]; readonly last: readonly string[] } {
    const first: string[] = [];
    const last: string[] = [];
    for (const { id, number } of this.entries()) {
      if (number < 0) continue;
      if (first.length < count) first.push(id);
      else if (number >= this.count - count) last.push(id);
    }
    return { first, last };
  }

  /** Moves all ids into the file and returns its descriptor. */
  moveToFile(): number {
    this.#flush();
    this.#file ??= this.#storage.open();
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
    if (this.bytes + line.length * 3 > maxBytes) throw new RangeError('A list of ids is limited to 4 GiB.');
    this.#waiting += this.#buffer.write(line, this.#waiting);
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#file ??= this.#storage.open();
    try {
      appendFileSync(this.#file, this.#buffer.subarray(0, this.#waiting));
    } catch (error) {
      throw this.#storage.failure(error);
    }
    this.#written += this.#waiting;
    this.#waiting = 0;
  }

  /** The slot of the id in the table, or the free slot for it. */
  #slotOf(id: string, hash: number): number {
    const last = this.#offsets.length - 1;
    let bytes: Buffer | null = null;
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const offset = this.#offsets[slot] ?? 0;
      if (offset === 0) return slot;
      if (this.#hashes[slot] !== hash) continue;
      bytes ??= Buffer.from(`${id}\n`);
      if (this.#bytesAt(offset - 1, bytes.length).equals(bytes)) return slot;
    }
  }

  #bytesAt(offset: number, length: number): Buffer {
    const at = offset - this.#written;
    if (at >= 0) return this.#buffer.subarray(at, Math.min(at + length, this.#waiting));
    const bytes = Buffer.alloc(length);
    // A line is either entirely in the file or entirely in the buffer.
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
      let slot = hash & last;
      while (this.#offsets[slot] !== 0) slot = (slot + 1) & last;
      this.#hashes[slot] = hash;
      this.#offsets[slot] = offset;
    });
  }
}

type Hash = (text: string) => number;

/**
 * A hash like FNV-1a with a random seed per list, so that a server cannot choose ids that all collide. A final mixing step spreads ids that
 * differ only in their last characters over the table.
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
