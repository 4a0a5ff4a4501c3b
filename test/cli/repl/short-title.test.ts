// A shortened title has whole graphemes, and takes the time of its beginning alone.
import { expect, test } from 'vitest';
import { shortTitle } from '../../../src/cli/repl/short-title.ts';
import { processorMs } from '../../support/processor-time.ts';

test('a title is cut between graphemes, and a short one is unchanged', () => {
  const family = '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}';
  expect(shortTitle(`a${family}b`, 3)).toBe(`a${family}b`);
  expect(shortTitle(family.repeat(5), 3)).toBe(`${family}${family}…`);
  expect(shortTitle('a\n\x1b[2J', 20)).toBe('a \\x1b[2J');
});

test('a text of any length and script is shortened at once', () => {
  const text = 'ก'.repeat(100_000);
  const start = processorMs();
  expect(shortTitle(text, 60)).toBe(`${'ก'.repeat(59)}…`);
  expect(processorMs() - start).toBeLessThan(1000);
});

test('a cut title ends in no half of a character', () => {
  const marks = '\u0301'.repeat(1000);
  for (const before of ['', 'a', 'ab']) {
    const title = `${before}${marks}\u{1f600}`.repeat(3);
    expect(shortTitle(title, 2)).not.toMatch(/\\u\{d/);
  }
  expect(shortTitle(`a${'\u{e0100}'.repeat(100)}`, 2)).not.toMatch(/\\u\{d/);
});
