// The checksum of keys and tokens that end in one: the CRC-32 of the random part as base62. Parley's keys have it, and those of GitHub and
// npm (github.blog/2021-04-05-behind-githubs-new-authentication-token-formats).

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const checksumLength = 6;

export function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text;
}

/** Six characters for an ASCII text. */
export function base62Checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength);
}

/** True for a random part that its own checksum follows. */
export function endsInItsChecksum(text: string): boolean {
  return base62Checksum(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

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
