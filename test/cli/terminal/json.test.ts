// JSON for a terminal: dangerous characters are escaped, and the value stays the same.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from '../../../src/cli/terminal/json.ts';
import { runs } from '../../support/runs.ts';

const hostile = [
  ...'a"\\\n\t\r\x1b\x07\x7f\u0085\u009b\u202e\u2066\u2028\u2029é日\u{1f600}\u{e0041}',
  '\ud800',
  '\udc00',
];
const text = fc.array(fc.constantFrom(...hostile), { maxLength: 10 }).map((parts) => parts.join(''));
const value = fc.letrec((tie) => ({
  value: fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), tie('list'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  record: fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
})).value;

test('JSON is one line that cannot control a terminal, and has the same value when parsed', () => {
  const property = fc.property(value, (given) => {
    const json = toJson(given);
    expect(json).not.toMatch(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u);
    expect(JSON.parse(json)).toEqual(given);
  });
  fc.assert(property, { numRuns: runs(1_000, 25_000) });
});

test('dangerous characters are escaped by their UTF-16 units, and all others are unchanged', () => {
  expect(toJson({ a: '\x1b\x7f\u009b\u202e\u2028' })).toBe('{"a":"\\u001b\\u007f\\u009b\\u202e\\u2028"}');
  expect(toJson('\u{e0041}\ud800')).toBe('"\\udb40\\udc41\\ud800"');
  expect(toJson('é日\u{1f600} </>')).toBe('"é日\u{1f600} </>"');
});

test('values that JSON lacks become null', () => {
  expect(toJson(undefined)).toBe('null');
});
