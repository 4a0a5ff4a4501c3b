// JSON of servers: text that is nested too deeply or has too many parts is refused; other text gives the same value as JSON.parse.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseJson, parsePythonJson } from '../../src/http/foreign-json.ts';

const padding = ' '.repeat(1000);

it('is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text + padding)).toEqual(JSON.parse(text));
    }),
  );
});

it('that is none is undefined', () => {
  const texts = [
    '',
    '{',
    '"',
    '"\\"',
    '[1,]',
    `"${'\\'.repeat(999)}`,
    '[[',
    ']]',
    'nul',
    '{"a":1}x',
    '\ufeff{}',
  ];
  for (const text of texts) expect(parseJson(text + padding)).toBeUndefined();
});

it('may contain brackets in its strings, after any quotation mark or backslash', () => {
  for (const text of [
    '['.repeat(5000),
    '"['.repeat(5000),
    '\\"{'.repeat(5000),
    '\\'.repeat(5000),
    ',"'.repeat(999),
  ]) {
    expect(parseJson(JSON.stringify([text]))).toEqual([text]);
  }
});

it.each([
  ['lists', '[', ']'],
  ['objects', '{"a":', '}'],
])('of %s 500 deep is read, and deeper ones are refused', (_what, open, close) => {
  const nested = (depth: number) => `${open.repeat(depth)}1${close.repeat(depth)}`;
  expect(JSON.stringify(parseJson(nested(500)))).toBe(nested(500));
  expect(parseJson(nested(501))).toBeUndefined();
  expect(parseJson(nested(200_000))).toBeUndefined();
  expect(parseJson(open.repeat(1_000_000))).toBeUndefined();
});

it('of more than a million parts is refused', () => {
  expect(parseJson(`[${'1,'.repeat(999_000)}1]`)).toHaveLength(999_001);
  expect(parseJson(`[${'{},'.repeat(500_001)}{}]`)).toBeUndefined();
});

it('of Python may have numbers that JSON lacks, which become null', () => {
  expect(parsePythonJson('{"a":NaN,"b":[Infinity, -Infinity,1],"NaN":"\\"-Infinity"}')).toEqual({
    ...{ a: null, b: [null, null, 1], NaN: '"-Infinity' },
  });
});

it('of Python that is none is undefined', () => {
  for (const text of ['NaN"', '{"a":NaN', '"NaN', 'NaNa', '{"a":NaN}}', '"\\"NaN'])
    expect(parsePythonJson(text)).toBeUndefined();
});
