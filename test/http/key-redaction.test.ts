// A key is found in a text in any form, without false positives.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { redactKey } from '../../src/http/key-redaction.ts';
import { processorMs } from '../support/processor-time.ts';

const key = 'sk-Secret{Key}42~abcDEFghi';
const each = (write: (code: number) => string) => [...key].map((one) => write(one.charCodeAt(0))).join('');
const hex = (code: number) => code.toString(16).padStart(2, '0');
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

const forms: Readonly<Record<string, string>> = {
  'as it is': key,
  'percent-encoded': each((code) => `%${hex(code)}`),
  'percent-encoded in part, as in a path': 'sk-Secret%7BKey%7D42~abcDEFghi',
  'percent-encoded twice': each((code) => `%25${hex(code)}`),
  'escaped as in JSON': each((code) => `\\u00${hex(code)}`),
  'escaped as in HTML': each((code) => `&#${code};`),
  'escaped as in HTML, with hexadecimal numbers': each((code) => `&#x${hex(code)};`),
  'in upper case': key.toUpperCase(),
  'in lower case': key.toLowerCase(),
  'in Base64': base64(key),
  'in Base64, as Basic credentials': base64(`user:${key}`),
  'in Base64, after a word': base64(`Bearer ${key}`),
  'in Base64 for URLs': Buffer.from(key).toString('base64url'),
  'in hexadecimal': Buffer.from(key).toString('hex'),
  'with spaces': [...key].join(' '),
  'with characters without width': [...key].join('\u200b'),
  'with spaces, percent-encoded': encodeURIComponent([...key].join(' ')),
  'over two lines': `${key.slice(0, 11)}\n  ${key.slice(11)}`,
  'from the end to the beginning': [...key].reverse().join(''),
  'without its end': key.slice(0, -2),
  'without its beginning': key.slice(3),
  'half of it': key.slice(0, 13),
};

it.each(Object.entries(forms))('a key %s is removed from a text, and nothing else', (_, form) => {
  const text = redactKey(`Wrong: "${form}" is refused, ${form}!`, key);
  // In Base64 the characters at both ends also encode what stands beside the key.
  expect(text).toMatch(/^Wrong: "[\w+/]{0,11}\[key\][\w+/]?" is refused, [\w+/]{0,11}\[key\][\w+/]?!$/);
});

it.each([
  ['once', 1],
  ['twice', 2],
])('a key whose slashes and quotation marks are escaped %s with backslashes is removed', (_, times) => {
  const odd = 'AbC/dEf"gHi/jKl/mNo';
  let form = odd;
  for (let time = 0; time < times; time += 1) form = form.replace(/[\\/"]/g, '\\$&');
  expect(redactKey(`{"key":"${form}"}`, odd)).toBe('{"key":"[key]"}');
});

it('a text without the key stays unchanged, even with small parts of it', () => {
  for (const text of [
    '100 % of it, & more',
    'No key: sk-Secret{… …EFghi, %41 \\u0041 &#65; a b',
    key.slice(0, 12),
    key.slice(14),
  ])
    expect(redactKey(text, key)).toBe(text);
  expect(redactKey('the words of a short key', 'short')).toBe('the words of a short key');
  fc.assert(fc.property(fc.string(), (other) => redactKey(other, key) === other));
});

it('a key is found anywhere, and the text around it stays', () => {
  const around = fc.string({ unit: fc.constantFrom(...'ab %&#;\\u00416[]"') });
  const form = fc.constantFrom(
    key,
    key.toUpperCase(),
    each((code) => `%${hex(code)}`),
  );
  fc.assert(
    fc.property(around, form, around, (before, found, after) => {
      const clean = redactKey(`${before}.${found}.${after}`, key);
      return clean.startsWith(`${before}.`) && clean.includes('.[key].') && clean.endsWith(`.${after}`);
    }),
  );
});

it.each(['\\', '%', '%25', '&#x0', '&#0', '&', ' ', 'sk-Secret', '\\u00'])(
  'the time grows with the length of a text of %j alone, not with its square',
  (part) => {
    const startedAt = processorMs();
    redactKey(part.repeat(1_000_000 / part.length), key);
    expect(processorMs() - startedAt).toBeLessThan(5000);
  },
);
