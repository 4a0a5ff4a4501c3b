// The same reply gives the same bytes, for any chunks.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../support/runs.ts';
import { sameInAnyPieces, sameInSingleUnits } from './properties.ts';
import { rendered } from './rendering.ts';

describe('any chunks of a reply give the same bytes', () => {
  test('for random documents, with and without colour', () =>
    fc.assert(sameInAnyPieces, { numRuns: runs(20, 500) }));

  test('down to single units', () => fc.assert(sameInSingleUnits, { numRuns: runs(6, 150) }));

  test.each([
    ['a line of thousands of characters', 'x'.repeat(5000)],
    ['a line of thousands of marks', '*a '.repeat(2000)],
    ['a line that only looks like a rule for long', `${'- '.repeat(700)}x`],
    ['brackets without end', '['.repeat(3000)],
    ['backticks without end', `${'`'.repeat(1200)} x`],
    ['wide characters without end', '語'.repeat(1500)],
    ['emoji without end', '\u{1f600}'.repeat(1500)],
    ['a row of a table without end', `| a | b |\n|---|---|\n| ${'x '.repeat(900)}| y |\n| z | z |`],
    ['a line of code without end', `\`\`\`js\n${'let a = 1; '.repeat(300)}\nlet b;\n\`\`\``],
    ['a heading without end', `# ${'word '.repeat(400)}`],
    ['quotes in quotes', '> '.repeat(600)],
    ['an address without end', `[text](https://e.com/${'a'.repeat(4000)}) end`],
  ])('for %s', async (_, text) => {
    for (const colour of [false, true]) {
      const whole = await rendered([text], { colour });
      expect(await rendered(text.split(''), { colour })).toBe(whole);
      expect(await rendered(text.match(/[\s\S]{1,997}/g) ?? [], { colour })).toBe(whole);
    }
  });
});
