// API keys: their form, their checksum and their hash.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashKey, isKey, issueKey } from '../../src/local/api-keys.ts';

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('an API key', () => {
  it('is pk_, 27 characters of secret and 6 of checksum', () => {
    expect(issueKey(randomBytes)).toMatch(/^pk_[0-9A-Za-z]{33}$/);
  });

  it('contains all of its 160 random bits', () => {
    const lowest = issueKey((size) => new Uint8Array(size));
    const next = issueKey((size) => new Uint8Array(size).fill(1, size - 1));
    const highest = issueKey((size) => new Uint8Array(size).fill(255));
    expect(lowest.slice(3, 30)).toBe('0'.repeat(27));
    expect(next.slice(3, 30)).toBe(`${'0'.repeat(26)}1`);
    let value = 0n;
    for (const digit of highest.slice(3, 30)) value = value * 62n + BigInt(digits.indexOf(digit));
    expect(value).toBe(2n ** 160n - 1n);
  });

  it('is recognised by its checksum: a changed, swapped, lost or added character is detected', () => {
    fc.assert(
      fc.property(fc.nat(32), fc.integer({ min: 1, max: 61 }), (place, shift) => {
        const key = issueKey(randomBytes);
        expect(isKey(key)).toBe(true);
        const at = place + 3;
        const changed = digits[(digits.indexOf(key[at] ?? '') + shift) % 62];
        expect(isKey(key.slice(0, at) + changed + key.slice(at + 1))).toBe(false);
        expect(isKey(key.slice(0, at) + key.slice(at + 1))).toBe(false);
        expect(isKey(`${key.slice(0, at)}0${key.slice(at)}`)).toBe(false);
        const swapped = key.slice(0, at) + (key[at + 1] ?? '') + (key[at] ?? '') + key.slice(at + 2);
        if (swapped !== key && swapped.length === key.length) expect(isKey(swapped)).toBe(false);
      }),
    );
  });

  it.each(['', 'pk_', 'sk_live', ' ', `pk_${'0'.repeat(33)} `])('is not %j', (text) => {
    expect(isKey(text)).toBe(false);
  });

  it('ends with the CRC32 of its secret, in base62', () => {
    const key = issueKey(randomBytes);
    let value = 0;
    for (const digit of key.slice(30)) value = value * 62 + digits.indexOf(digit);
    expect(value).toBe(crc32(key.slice(3, 30)));
  });

  it('is stored as its SHA-256', () => {
    expect(Buffer.from(hashKey('abc')).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });
});
