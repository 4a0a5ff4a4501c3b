// Parsing a body in steps gives the same value as JSON.parse, and fails in the same cases.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJsonBody } from '../../src/server/json-body.ts';
import type { JsonBounds } from '../../src/server/json-scan.ts';
import { failureOf } from '../support/calls.ts';
import { runs } from '../support/runs.ts';

const wide: JsonBounds = { depth: 100, values: 100_000, lists: {} };
const steps = { shortBytes: 0, scanBytes: 7, partBytes: 5 };
const inSteps = (text: string, bounds = wide) =>
  parseJsonBody(Buffer.from(text), bounds, () => Promise.resolve(), steps);

/** The result as text, which also shows the order of the fields. */
async function outcome(parse: () => unknown): Promise<string | undefined> {
  try {
    return JSON.stringify(await parse());
  } catch (error) {
    if (error instanceof SyntaxError) return 'not JSON';
    throw error;
  }
}

test('any value is parsed as by JSON.parse, with any white space', async () => {
  const fields = fc.dictionary(fc.string({ maxLength: 5, unit: 'grapheme' }), fc.jsonValue({ maxDepth: 4 }));
  await fc.assert(
    fc.asyncProperty(fields, fc.nat(3), async (value, spaces) => {
      const text = JSON.stringify(value, null, spaces);
      expect(await outcome(() => inSteps(text))).toBe(await outcome(() => JSON.parse(text)));
    }),
    { numRuns: runs(50, 1_500) },
  );
});

test('a text with an added, removed or changed character is JSON in the same cases', async () => {
  const text = JSON.stringify({
    a: [1, [2, 3], { b: [4, 5, 6] }, 'x,]"', 7, 8, 9],
    c: ['éé', '', {}, [], 0],
    a2: 1,
  });
  const marks = ['', ',', '[', ']', '{', '}', '"', ':', '\\', ' ', '1', '\ufeff', 'a'];
  for (let at = 0; at <= text.length; at += 1) {
    for (const mark of marks) {
      for (const rest of [text.slice(at), text.slice(at + 1)]) {
        const changed = text.slice(0, at) + mark + rest;
        // A byte order mark at the beginning is accepted, as by TextDecoder.
        const expected = await outcome(() => JSON.parse(changed.replace(/^\ufeff/, '')));
        expect([changed, await outcome(() => inSteps(changed))]).toEqual([changed, expected]);
      }
    }
  }
});

test.each([
  '{"a":[1,2,3,4,5,6],"a":[7]}',
  '{"a":[1],"a":[1,2,3,4,5,6]}',
  '{"a":[1,2,3,4,5,6],"\\u0061":7}',
  '{"__proto__":[1,2,3,4,5,6]}',
  '[[1,2,3,4,5,6],[1]]',
  '[1,2,3,4,5,6]',
  '"[1,2,3,4,5,6]"',
  '{"a":[1,2,3,4,5,6,]}',
  '{"a":[,1,2,3,4,5,6]}',
  '{"a":[1,2,3,,4,5,6]}',
  '{"a":[1,2,3,4,5,6}',
  '{"a":[1,2,3,4,5,6]',
  '{"a":[1,2,3,4],[5,6]}',
])('%s is read as JSON.parse reads it', async (text) => {
  expect(await outcome(() => inSteps(text))).toBe(await outcome(() => JSON.parse(text)));
});

test('bytes that are not UTF-8 are refused anywhere', async () => {
  const text = Buffer.from('{"a":["xx","xx","xx","xx"],"b":"xx"}');
  for (const at of [...text.entries()].filter(([, byte]) => byte === 0x78).map(([at]) => at)) {
    const bytes = Uint8Array.from(text, (byte, place) => (place === at ? 0xff : byte));
    await expect(parseJsonBody(bytes, wide, () => Promise.resolve(), steps)).rejects.toThrow(TypeError);
  }
});

test.each([
  [
    '{"a":[1,2,3,4]}',
    { ...wide, lists: { a: { items: 3, names: new Set<string>() } } },
    'a',
    'holds more than 3 items',
  ],
  ['{"b":{},"c":[[[]]]}', { ...wide, depth: 3 }, 'c', 'nests deeper than 3 levels'],
  [
    '{"a":1,"b":[1,2,3]}',
    { ...wide, values: 5 },
    'b',
    'holds more than the 5 values that a request may have',
  ],
  ['[[[[', { ...wide, depth: 3 }, 'body', 'nests deeper than 3 levels'],
])('%s is refused by its bounds, by the name of the field', async (text, bounds, field, problem) => {
  const error = await failureOf(inSteps(text, bounds));
  expect([error.code, error.details]).toEqual(['INVALID_REQUEST', [{ field, problem }]]);
});
