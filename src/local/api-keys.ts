// API keys: `pk_`, then 160 random bits in base62 (27 characters), then the CRC-32 of those characters in base62 (6). The checksum finds a
// typing error without a look-up. The store keeps only the SHA-256 of a key: 160 random bits cannot be guessed, so a slow hash would add
// nothing.
import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { RandomBytes } from './ids.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const secretLength = 27;
const checksumLength = 6;
const keyForm = new RegExp(`^pk_([0-9A-Za-z]{${secretLength}})([0-9A-Za-z]{${checksumLength}})$`);

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text;
}

const checksum = (secret: string) => base62(BigInt(crc32(secret)), checksumLength);

/**
 * The CRC-32 of zlib (RFC 1952, section 8), of ASCII text. The code is our own because loading `node:zlib` costs each start a millisecond.
 */
function crc32(text: string): number {
  let crc = -1;
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** A new key of this form. */
export function issueKey(random: RandomBytes): string {
  const secret = base62(BigInt(`0x${Buffer.from(random(20)).toString('hex')}`), secretLength);
  return `pk_${secret}${checksum(secret)}`;
}

/** True for text of the right form whose checksum is correct. Only the store knows whether the key exists. */
export function isKey(text: string): boolean {
  const parts = keyForm.exec(text);
  return parts?.[1] !== undefined && checksum(parts[1]) === parts[2];
}

/** The SHA-256 of a key, 32 bytes. It is computed in JavaScript, because loading `node:crypto` would take a twentieth of a start. */
export function hashKey(key: string): Uint8Array {
  return sha256(utf8ToBytes(key));
}
