// JSON whose numbers keep all their digits.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from '../../src/cli/terminal/json.ts';
import { parseExactJson } from '../../src/wire/exact-json.ts';

test('numbers that a JavaScript number cannot represent keep their digits, anywhere', () => {
  const text =
    '{"id":9007199254740993,"list":[-1234567890123456789,1e400,0.1000000000000000055,12345678901234567890e-3],"text":"9007199254740993"}';
  expect(toJson(parseExactJson(text))).toBe(text);
});

test.each(['12345678901234567890', ' -1e400', '[1,-1e400]', '{"a":{"b" :\n12345678901234567890}}'])(
  'the digits of such a number stay in %j, whatever stands before it',
  (text) =>
    expect(JSON.parse(toJson({ value: parseExactJson(text) }).replace(/-?\d{20}|-?1e400/, '"kept"'))).toEqual(
      {
        value: JSON.parse(text.replace(/-?\d{20}|-?1e400/, '"kept"')),
      },
    ),
);

test('all other numbers are plain numbers, however they are written', () => {
  const plain = { a: 9007199254740991, b: 0.30000000000000004, c: 1e21, d: -0.5, e: 1e-7, f: 100, g: 0 };
  const text =
    '{"a":9007199254740991,"b":0.30000000000000004,"c":1e21,"d":-5E-01,"e":0.0000001,"f":1.00e2,"g":0.0e99}';
  expect(parseExactJson(text)).toEqual(plain);
});

test('every double in its shortest form is parsed to the same value', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })), (numbers) => {
      expect(parseExactJson(JSON.stringify(numbers))).toEqual(JSON.parse(JSON.stringify(numbers)));
    }),
  );
});

test('a string with digits, quotes and backslashes remains a string beside such a number', () => {
  const value = {
    a: '\\"12345678901234567890\\',
    b: '\udfff12345678901234567890',
    '123456789012345678': 'x',
  };
  const text = `${JSON.stringify(value).slice(0, -1)},"c":12345678901234567890}`;
  expect(parseExactJson(text)).toMatchObject({ a: value.a, '123456789012345678': 'x' });
  expect(JSON.parse(toJson(parseExactJson(text)).replace(/12345678901234567890}$/, '0}')).a).toBe(value.a);
});

test('what is not JSON is undefined', () => {
  expect(parseExactJson('{"a":12345678901234567890')).toBeUndefined();
});

test('a string of millions of escapes stands beside such a number', () => {
  const text = `{"a":"${'\\\\n'.repeat(2_000_000)}","b":12345678901234567890}`;
  expect(toJson(parseExactJson(text))).toBe(text);
});
