// Identifiers: a prefix that names the kind, then a ULID in lower case: 48 bits of time and 80 random bits, so that ids sort by
// age and cannot be guessed.

/** Fills so many bytes with cryptographic randomness. */
export type RandomBytes = (size: number) => Uint8Array;

export type IdPrefix = 'ses' | 'msg' | 'key' | 'prj';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export function newId(prefix: IdPrefix, now: number, random: RandomBytes): string {
  let bits = BigInt(now);
  for (const byte of random(10)) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let place = 0; place < 26; place++) {
    text = alphabet[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return `${prefix}_${text}`;
}
