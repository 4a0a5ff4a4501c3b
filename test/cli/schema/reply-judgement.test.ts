// Which replies match: values that other programs read in different ways do not.
import { describe, expect, test } from 'vitest';
import { SchemaValidator } from '../../../src/cli/schema/schema-validator.ts';
import { toJson } from '../../../src/cli/terminal/json.ts';

function judgementOf(schema: object, reply: string) {
  const judgement = new SchemaValidator(JSON.stringify(schema)).judge(reply);
  return 'faults' in judgement ? judgement.faults[0] : toJson(judgement.value);
}

describe('a reply does not match', () => {
  const item = { type: 'object', properties: { count: { type: 'integer' } } };
  test.each([
    ['a name that is given twice', item, '{"count":"x","count":1}', '/count', 'the name is repeated'],
    ['a name twice, once escaped', item, '{"count":"x","c\\u006funt":1}', '/count', 'the name is repeated'],
    ['a number that is rounded to a limit', { maximum: 2 ** 53 }, '9007199254740993', '', 'more digits'],
    ['a number that is rounded to const', { const: 0.1 }, '0.10000000000000000001', '', 'more digits'],
    [
      'a number that is rounded to a whole one',
      { type: 'integer' },
      '[1.00000000000000000001]',
      '/0',
      'more digits',
    ],
    ['a number beyond all', {}, '1e400', '', 'more digits'],
    [
      'two numbers that may be equal',
      { uniqueItems: true },
      '[9007199254740993,9007199254740992]',
      '/0',
      'more digits',
    ],
    [
      'a name that was not judged',
      { unevaluatedProperties: false },
      '{"toString":1}',
      '/toString',
      'cannot be checked',
    ],
    [
      'an inherited name',
      { required: ['constructor'] },
      '{}',
      '',
      "must have required property 'constructor'",
    ],
    ['a property by the name __proto__', { additionalProperties: false }, '{"__proto__":1}', '', '__proto__'],
    ['words before it', {}, 'Sure: {}', '', 'it is not JSON (line 1, column 1)'],
    ['words after it', {}, '{}\nDone.', '', 'there is more text after'],
    ['a fence that is not closed', {}, '```json\n{}', '', 'it is not JSON'],
    ['single quotes', {}, "{'a':1}", '', 'it is not JSON'],
    ['a comma too many', {}, '[1,]', '', 'it is not JSON (line 1, column 4)'],
    ['a number of other programs', {}, '[NaN]', '', 'it is not JSON'],
    ['a leading zero', {}, '01', '', 'there is more text after'],
    ['nothing', {}, ' \n', '', 'it ends before'],
    [
      'too many levels',
      {},
      `${'['.repeat(501)}${']'.repeat(501)}`,
      '/0'.repeat(500),
      'nested deeper than 500',
    ],
    ['a fault far inside', { items: item }, '[{"count":1},{"count":1.5}]', '/1/count', 'must be integer'],
    [
      'half of a surrogate pair in a name',
      { additionalProperties: false },
      '{"\\ud800":1}',
      '',
      'must NOT have',
    ],
  ])('with %s', (_what, schema, reply, place, reason) => {
    expect(judgementOf(schema, reply)).toEqual({ place, reason: expect.stringContaining(reason) });
  });
});

describe('a reply matches, and keeps all digits', () => {
  test.each([
    ['a long integer', { type: 'integer', minimum: 1 }, '1234567890123456789'],
    ['a long fraction', { type: 'number' }, '3.14159265358979323846264338327950288'],
    ['a decimal multiple', { multipleOf: 0.1 }, '0.3'],
    ['a large multiple', { multipleOf: 0.01 }, '123456789012.34'],
    [
      'a value of enum with names that objects have',
      { enum: [{ toString: 1, valueOf: [] }] },
      '{"valueOf":[],"toString":1}',
    ],
    [
      'names that objects have',
      { properties: { constructor: { type: 'string' } } },
      '{"constructor":"Ferrari","__proto__":{}}',
    ],
  ])('with %s', (_what, schema, reply) => {
    expect(judgementOf(schema, reply)).toBe(reply);
  });

  test('in a fence of any kind, and with a byte order mark', () => {
    for (const reply of [
      '\ufeff{"a":1}',
      '```json\n{"a":1}\n```',
      '~~~~ JSON \r\n{"a":1}\r\n~~~~',
      '```\n{\n"a" : 1.0 }\n```',
    ])
      expect(judgementOf({}, reply)).toBe('{"a":1}');
  });
});

test('a reply of 1 MiB is judged, and a longer one than 8 MiB is not read', () => {
  const long = JSON.stringify(Array.from({ length: 10_000 }, (_, id) => ({ id, text: 'a'.repeat(100) })));
  const schema = { items: { properties: { id: { type: 'integer' } }, required: ['id'] }, uniqueItems: true };
  expect(long.length).toBeGreaterThan(1024 * 1024);
  expect(judgementOf(schema, long)).toBe(long);
  expect(judgementOf(schema, `${long.slice(0, -1)},${long.slice(1, long.indexOf('}'))}}]`)).toMatchObject({
    place: '',
  });
  const endless = JSON.stringify('a'.repeat(8 * 1024 * 1024));
  expect(judgementOf({}, endless)).toMatchObject({ reason: expect.stringContaining('longer than 8388608') });
});
