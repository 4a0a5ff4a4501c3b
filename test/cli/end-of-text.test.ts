// The ends of texts of a megabyte are found at once.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastWordStart, withoutLastNewlines } from '../../src/cli/end-of-text.ts';
import { processorMs } from '../support/processor-time.ts';

const text = fc.string({ unit: fc.constantFrom('\n', ' ', '\t', '\u3000', 'a', '漢', '😀') });

test('the ends of a text are those that regular expressions find', () => {
  fc.assert(
    fc.property(text, (some) => {
      expect(withoutLastNewlines(some)).toBe(some.replace(/\n+$/, ''));
      expect(lastWordStart(some)).toBe(some.replace(/\S*\s*$/, '').length);
    }),
  );
});

test('a long run before the end takes no time', () => {
  const begun = processorMs();
  const lines = `${'\n'.repeat(1_000_000)}x`;
  expect(withoutLastNewlines(lines)).toBe(lines);
  expect(lastWordStart(`${'a'.repeat(1_000_000)} x `)).toBe(1_000_001);
  expect(processorMs() - begun).toBeLessThan(1000);
});
