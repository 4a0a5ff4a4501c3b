// The ids of the lines of a batch.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf } from '../../../src/cli/batch/batch-items.ts';
import { runs } from '../../support/runs.ts';

test('two ids have one key if and only if their texts are equal, and a number equals its digits', () => {
  const id = fc.oneof(
    fc.integer({ min: -20, max: 20 }),
    fc.integer({ min: -20, max: 20 }).map(String),
    fc.maxSafeInteger(),
    fc.maxSafeInteger().map(String),
    fc.string({ minLength: 1, maxLength: 3 }),
    fc.constantFrom('007', '-0', '1e3', '1.0', ' 1', '9007199254740993', '9007199254740992', 1000),
  );
  fc.assert(
    fc.property(id, id, (one, other) => {
      expect(new Set([keyOf(one), keyOf(other)]).size === 1).toBe(String(one) === String(other));
    }),
    { numRuns: runs(300, 5_000) },
  );
});
