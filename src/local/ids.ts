// Identifiers: a prefix that names the kind, then a ULID in lower case: 48 bits of time and 80 random bits. Nobody can guess an id, and ids
// sort by age, even those of one process in one millisecond.

/** Fills this many bytes with cryptographic randomness. */
export type RandomBytes = (size: number) => Uint8Array;

type IdPrefix = 'ses' | 'msg' | 'key' | 'prj' | 'ret';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const randomBits = 80n;
/** Maps the byte of a digit in JavaScript's base 32 to the byte of the digit with the same value in an id. */
const idByte = new Uint8Array(128);
for (const [value, digit] of [...alphabet].entries())
  idByte[value.toString(32).charCodeAt(0)] = digit.charCodeAt(0);

/** The millisecond of the newest id, and the newest id of each owner in that millisecond. */
interface NewestIds {
  time: number;
  readonly ids: Map<string, bigint>;
}

export class IdSource {
  readonly #random: RandomBytes;
  readonly #owner: string;
  readonly #newest: NewestIds;

  constructor(random: RandomBytes, owner = '', newest: NewestIds = { time: 0, ids: new Map() }) {
    this.#random = random;
    this.#owner = owner;
    this.#newest = newest;
  }

  /**
   * A source of ids for one owner. Within one millisecond the ids of an owner continue from each other, so their distance says nothing
   * about the ids of other owners.
   */
  of(owner: string): IdSource {
    return new IdSource(this.#random, owner, this.#newest);
  }

  /** `now` in epoch milliseconds. */
  next(prefix: IdPrefix, now: number): string {
    const { ids } = this.#newest;
    if (now > this.#newest.time) {
      this.#newest.time = now;
      ids.clear();
    }
    const last = ids.get(this.#owner);
    const time = BigInt(this.#newest.time) << randomBits;
    const id = last === undefined ? time | this.#draw(10) : last + 1n + this.#draw(4);
    ids.set(this.#owner, id);
    return `${prefix}_${inBase32(id)}`;
  }

  #draw(bytes: number): bigint {
    return BigInt(`0x${Buffer.from(this.#random(bytes)).toString('hex')}`);
  }
}

/** 26 digits. JavaScript writes base 32 with the digits `0` to `9` and `a` to `v`. Bytes take half the time of joined characters. */
function inBase32(number: bigint): string {
  const digits = Buffer.from(number.toString(32).padStart(26, '0'), 'latin1');
  digits.forEach((byte, index) => {
    digits[index] = idByte[byte] ?? byte;
  });
  return digits.toString('latin1');
}
