// Which texts count as redactions of a text.
import { expect, test } from 'vitest';
import { isRedactionOf } from '../../../src/cli/secrets/redacted-text.ts';

test.each([
  ['the key is X', 'the key is X', true],
  ['the key is [redacted openai_key] now', 'the key is sk-1 now', true],
  ['[redacted message]', 'any text\nof two lines', true],
  ['[redacted jwt] and [redacted jwt]', 'a and b and c', true],
  ['[redacted jwt] and [redacted jwt]!', 'a and b', false],
  ['the key is [redacted openai_key] now', 'the key is sk-1 then', false],
  ['the key is [redacted openai_key] now', 'a key is sk-1 now', false],
  ['ab[redacted jwt]ba', 'aba', false],
  ['the key is Y', 'the key is X', false],
])('%j as a redaction of %j: %s', (redacted, text, expected) => {
  expect(isRedactionOf(redacted, text)).toBe(expected);
});
