// The title that a session gets from its first message.
import { expect, test } from 'vitest';
import { titleOf } from '../../src/local/text-rules.ts';

test.each([
  ['is its first line', 'Hello\nWorld', 'Hello'],
  ['skips lines of white space', ' \t\r\n\r\n  Hello  ', 'Hello'],
  ['skips lines of control characters', '\u0007\u001b\nHello', 'Hello'],
  ['has spaces for control characters', 'a\u001b[31mb\u2028c', 'a [31mb c'],
  ['has at most 60 characters, none of them cut', '😀'.repeat(61), '😀'.repeat(60)],
  ['is empty for a message without any text', '\u0007', ''],
])('an automatic title %s', (_fact, message, title) => {
  expect(titleOf(message)).toBe(title);
});
