// The text of a request under an idempotency key is the same for any order of its fields.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stableJson } from '../../src/local/stable-json.ts';

/** The same value, its fields in the opposite order at every depth. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).reverse();
  return Object.fromEntries(fields.map(([name, part]) => [name, reversed(part)]));
}

it('the order of fields has no effect at any depth', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(stableJson(reversed(value))).toBe(stableJson(value));
    }),
  );
});

it('the order of a list matters, and the text of a flat request is the list of its fields', () => {
  expect(stableJson([1, 2])).not.toBe(stableJson([2, 1]));
  expect(stableJson(['chat', { mode: 'm', message: 'x', session_id: null }])).toBe(
    '["chat",[["message","x"],["mode","m"],["session_id",null]]]',
  );
});
