// Titles: which ones are accepted, and the title that a session gets from its first message.
import { expect, test } from 'vitest';
import { otherCount } from '../../src/local/erasure-failures.ts';
import { checkChanges, checkTitle, checkTitleMatch, readTime, titleOf } from '../../src/local/text-rules.ts';
import { defaultLimits } from '../../src/service/limits.ts';
import { processorMs } from '../support/processor-time.ts';

test.each([
  ['is its first line', 'Hello\nWorld', 'Hello'],
  ['skips lines of white space', ' \t\r\n\r\n  Hello  ', 'Hello'],
  ['skips lines of control characters', '\u0007\u001b\nHello', 'Hello'],
  ['has spaces for control characters', 'a\u001b[31mb\u2028c', 'a [31mb c'],
  ['has at most 60 characters, none of them cut', '😀'.repeat(61), '😀'.repeat(60)],
  ['takes 60 of them after spaces', `${' '.repeat(500)}${'😀'.repeat(61)}`, '😀'.repeat(60)],
  ['takes 60 of them after a single one', `a${'😀'.repeat(61)}`, `a${'😀'.repeat(59)}`],
  ['ends with its line', `\n\n  a \r${'b'.repeat(500)}`, 'a'],
  ['is empty for a message without any text', '\u0007', ''],
])('an automatic title %s', (_fact, message, title) => {
  expect(titleOf(message)).toBe(title);
});

test('a title that is far too long is refused by its length alone, at once', () => {
  const long = '\u0000'.repeat(8_000_000);
  const start = processorMs();
  for (const check of [checkTitle, checkTitleMatch])
    expect(() => check(long, defaultLimits)).toThrow('has at least 4000000 characters; the limit is 200');
  for (const message of ['\n'.repeat(1_000_000), 'x'.repeat(1_000_000), 'x\n'.repeat(500_000)])
    expect(titleOf(`${message}x`).length).toBeLessThanOrEqual(60);
  expect(processorMs() - start).toBeLessThan(2000);
  const titles = ['😀'.repeat(200), 'x'.repeat(200)];
  for (const title of titles) expect(() => checkTitle(title, defaultLimits)).not.toThrow();
  for (const title of titles)
    expect(() => checkTitle(`${title}x`, defaultLimits)).toThrow('has 201 characters; the limit is 200');
});

test('a time without a zone is refused: each machine would take it for another', () => {
  expect(readTime('updated_before', '2026-01-31T10:00:00+01:00')).toBe(Date.UTC(2026, 0, 31, 9));
  expect(() => readTime('updated_before', '2026-01-31T10:00:00')).toThrow('with its zone');
});

test('a time of a day that does not exist is refused, and not read as another', () => {
  expect(readTime('updated_before', '2028-02-29T00:00:00Z')).toBe(Date.UTC(2028, 1, 29));
  for (const time of ['2026-02-30T00:00:00.000Z', '2026-02-29T00:00:00Z', '2026-04-31T10:00:00+02:00'])
    expect(() => readTime('updated_before', time)).toThrow('updated_before');
});

test('errors of fields and counts are grammatical with a plural name and with one session', () => {
  const parameters = { a: 'x'.repeat(defaultLimits.parametersBytes) };
  expect(() => checkChanges({ parameters }, defaultLimits)).toThrow(
    expect.objectContaining({
      message: 'The field parameters takes 16392 bytes as JSON; the limit is 16384.',
      hint: 'Give another value for parameters; nothing was changed.',
    }),
  );
  expect(() => checkTitle('', defaultLimits)).toThrow(
    expect.objectContaining({ hint: 'Give another value for title; nothing was changed.' }),
  );
  expect(otherCount(1, 3).message).toBe('The number of sessions to erase is 1, not 3.');
});
