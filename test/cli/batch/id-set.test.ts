import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdSet } from '../../../src/cli/batch/id-set.ts';
import { runs } from '../../support/runs.ts';

test('a set of ids tells those it has, numbers and their digits alike', () => {
  const id = fc.oneof(
    fc.nat(60),
    fc.nat(60).map(String),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.string({ minLength: 1, maxLength: 3 }),
    fc.constantFrom('007', '-1', '1e3', '0'),
  );
  fc.assert(
    fc.property(fc.array(id, { maxLength: 60 }), (ids) => {
      const set = new IdSet();
      const known = new Set<string>();
      for (const each of ids) {
        expect(set.has(each)).toBe(known.has(String(each)));
        expect(set.add(each)).toBe(!known.has(String(each)));
        known.add(String(each));
      }
    }),
    { numRuns: runs(100, 2_500) },
  );
});

test('twenty thousand ids of text, and the numbers of as many lines, are all told apart', () => {
  const set = new IdSet();
  for (let line = 1; line <= 20_000; line++) {
    expect(set.add(`row-${line}`)).toBe(true);
    expect(set.add(line)).toBe(true);
  }
  expect([set.add('row-99'), set.add('99'), set.has(20_001), set.has('row-0')]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
