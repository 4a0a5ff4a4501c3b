// API keys: `pk_`, then 160 random bits in base62 (27 characters), then the CRC-32 of those characters in base62 (6). The checksum finds a
// typing error without a look-up. The store keeps only the SHA-256 of a key: 160 random bits cannot be guessed, so a slow hash would add
// nothing.
import { sha256 } from '@noble/hashes/sha2.js';
import { base62, base62Checksum, checksumLength, endsInItsChecksum } from '../service/base62-checksum.ts';
import type { RandomBytes } from './ids.ts';

const secretLength = 27;
const keyForm = new RegExp(`^pk_([0-9A-Za-z]{${secretLength + checksumLength}})$`);

/** A new key of this form. */
export function issueKey(random: RandomBytes): string {
  const secret = base62(BigInt(`0x${Buffer.from(random(20)).toString('hex')}`), secretLength);
  return `pk_${secret}${base62Checksum(secret)}`;
}

/** True for text of the right form whose checksum is correct. Only the store knows whether the key exists. */
export function isKey(text: string): boolean {
  const [, random] = keyForm.exec(text) ?? [];
  return random !== undefined && endsInItsChecksum(random);
}

/** The SHA-256 of a key, 32 bytes. It is computed in JavaScript, because loading `node:crypto` would take a twentieth of a start. */
export function hashKey(key: string): Uint8Array {
  return sha256(Buffer.from(key));
}
