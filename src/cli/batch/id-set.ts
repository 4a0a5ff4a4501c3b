// Which ids there were, of a batch of any length, in little memory: a bit for each that is a number near to those before it, as the numbers
// of lines are, and eight bytes of a hash for each other (two of a million are the same by chance once in 30 million batches).
import { createHash } from 'node:crypto';
import type { BatchId } from './batch-request.ts';

export class IdSet {
  readonly #hashes = new HashTable();
  #bits = new Uint8Array(1024);

  /** False for an id that is in it already; a number is the same as its digits. */
  add(id: BatchId): boolean {
    const number = numberOf(id);
    if (number !== null && this.#isMarked(number)) return false;
    if (number === null || number >= this.#bits.length * 16) return this.#hashes.add(hashOf(id));
    if (this.#hashes.size > 0 && this.#hashes.has(hashOf(id))) return false;
    this.#mark(number);
    return true;
  }

  has(id: BatchId): boolean {
    const number = numberOf(id);
    if (number !== null && this.#isMarked(number)) return true;
    return this.#hashes.size > 0 && this.#hashes.has(hashOf(id));
  }

  #isMarked(number: number): boolean {
    return ((this.#bits[Math.floor(number / 8)] ?? 0) & (1 << (number % 8))) !== 0;
  }

  #mark(number: number): void {
    const place = Math.floor(number / 8);
    if (place >= this.#bits.length) {
      const longer = new Uint8Array(this.#bits.length * 2);
      longer.set(this.#bits);
      this.#bits = longer;
    }
    this.#bits[place] = (this.#bits[place] ?? 0) | (1 << (number % 8));
  }
}

function numberOf(id: BatchId): number | null {
  if (typeof id === 'number') return id >= 0 ? id : null;
  return /^(0|[1-9]\d{0,14})$/.test(id) ? Number(id) : null;
}

/** Never 0, which is an empty place of the table. */
function hashOf(id: BatchId): bigint {
  return createHash('sha256').update(String(id)).digest().readBigUInt64LE() || 1n;
}

/** Open addressing: a hash is put in the first free place from where it belongs. */
class HashTable {
  size = 0;
  #places = new BigUint64Array(1024);

  has(hash: bigint): boolean {
    return this.#places[this.#placeOf(hash)] === hash;
  }

  /** False for one that is there. */
  add(hash: bigint): boolean {
    if (this.size * 2 >= this.#places.length) this.#grow();
    const place = this.#placeOf(hash);
    if (this.#places[place] === hash) return false;
    this.#places[place] = hash;
    this.size += 1;
    return true;
  }

  #placeOf(hash: bigint): number {
    const last = this.#places.length - 1;
    let place = Number(hash & 0x7fffffffn) & last;
    while (this.#places[place] !== 0n && this.#places[place] !== hash) place = (place + 1) & last;
    return place;
  }

  #grow(): void {
    const former = this.#places;
    this.#places = new BigUint64Array(former.length * 2);
    for (const hash of former) if (hash !== 0n) this.#places[this.#placeOf(hash)] = hash;
  }
}
