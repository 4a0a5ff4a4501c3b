// Identifiers: a prefix that names the kind, then a ULID in lower case: 48 bits of time and 80 random bits, so that ids cannot be
// guessed and sort by age, also those that one process makes in the same millisecond.

/** Fills so many bytes with cryptographic randomness. */
export type RandomBytes = (size: number) => Uint8Array;

export type IdPrefix = 'ses' | 'msg' | 'key' | 'prj';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const randomBits = 80n;

export class IdSource {
  readonly #random: RandomBytes;
  #last = 0n;

  constructor(random: RandomBytes) {
    this.#random = random;
  }

  /** `now` in epoch milliseconds. */
  next(prefix: IdPrefix, now: number): string {
    const isLater = BigInt(now) > this.#last >> randomBits;
    this.#last = isLater ? (BigInt(now) << randomBits) | this.#draw(10) : this.#last + 1n + this.#draw(4);
    return `${prefix}_${inBase32(this.#last)}`;
  }

  #draw(bytes: number): bigint {
    return this.#random(bytes).reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
  }
}

function inBase32(number: bigint): string {
  let text = '';
  for (let bits = number, place = 0; place < 26; place++, bits >>= 5n) {
    text = alphabet[Number(bits & 31n)] + text;
  }
  return text;
}
