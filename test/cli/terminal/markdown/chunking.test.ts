// The same bytes for the same reply, however the stream cut it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { markdownText } from './markdown-texts.ts';
import { inPieces, rendered } from './rendering.ts';

/** As long as the tokens of a model, or the packets of a network. */
const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 20,
});
const widths = fc.constantFrom(8, 20, 40, 80, 200);

describe('any way of cutting a reply gives the same bytes', () => {
  test('for 1,000 random documents, with and without colour', async () => {
    const property = fc.asyncProperty(
      markdownText,
      lengths,
      widths,
      fc.boolean(),
      async (text, cut, columns, colour) => {
        const whole = await rendered([text], { columns, colour });
        expect(await rendered(inPieces(text, cut), { columns, colour })).toBe(whole);
      },
    );
    await fc.assert(property, { numRuns: 1_000 });
  }, 120_000);

  test('down to single units', async () => {
    const property = fc.asyncProperty(markdownText, widths, fc.boolean(), async (text, columns, colour) => {
      const whole = await rendered([text], { columns, colour });
      expect(await rendered(text.split(''), { columns, colour })).toBe(whole);
    });
    await fc.assert(property, { numRuns: 200 });
  });

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
