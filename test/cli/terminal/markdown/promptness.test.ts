// Received text is shown soon: of prose, at most a line of the terminal is held back, whatever marks are open.
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../support/runs.ts';
import { rendered, stringTerminal, writerTo } from './rendering.ts';

const letters = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz', 'é', 'ß', 'ж');
const word = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: letters, minLength: 1, maxLength: 9 }) },
  { weight: 1, arbitrary: fc.string({ unit: letters, minLength: 10, maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(...'日本語文章'), minLength: 1, maxLength: 40 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(...'กขคงจ'), minLength: 1, maxLength: 90 }) },
);
const opening = fc.constantFrom(
  '',
  '',
  '',
  '*',
  '**',
  '***',
  '_',
  '__',
  '~~',
  '`',
  '``',
  '[',
  '![',
  '<',
  '(',
  '"',
);
const closing = fc.constantFrom('', '', '', '', '', '', '*', '**', '_', '~~', '`', ']', ')', '."', ',', '.');
const marked = fc.tuple(opening, word, closing).map((parts) => parts.join(''));
const prose = fc
  .array(fc.tuple(marked, fc.constantFrom(' ', ' ', ' ', ' ', '\n')), { minLength: 1, maxLength: 60 })
  .map((words) => words.map((parts) => parts.join('')).join(''))
  // At the start of a line a mark may be a rule or a fence, so it is held back for a moment.
  .map((text) => text.replace(/\n(?=[*_~`<])/g, ' '))
  // A block of HTML would end the block that contains it.
  .map((text) => text.replace(/^</, ''));
const columnsOfBlock: Readonly<Record<string, number>> = {
  '': 0,
  '- ': 2,
  '> ': 2,
  '12. ': 4,
  '> - ': 4,
  '# ': 0,
};
const blocks = fc.constantFrom(...Object.keys(columnsOfBlock));

const letter = /[\p{L}]/u;

/** The largest number of columns that were held back at any moment, counted by written letters; fed a character at a time. */
async function maxHeld(text: string, prefix: string, columns: number): Promise<number> {
  const terminal = stringTerminal({ columns, colour: true });
  const writer = writerTo(terminal);
  await writer.write(prefix);
  const characters = [...text];
  const places = characters.flatMap((character, at) => (letter.test(character) ? [at + 1] : []));
  let max = 0;
  for (const [at, character] of characters.entries()) {
    await writer.write(character);
    const shown = [...stripVTControlCharacters(terminal.text())].filter((one) => letter.test(one)).length;
    // Marks may have become a style, which takes no column; the text before the first held letter may have been written.
    const waiting = characters
      .slice(places[shown - 1] ?? 0, at + 1)
      .join('')
      .replace(/^[^\p{L}]+|[*_~`]/gu, '');
    max = Math.max(max, stringWidth(waiting.trim()));
  }
  return max;
}

describe('of prose with marks that stay open', () => {
  test('at most a line of the terminal is held back, at any width and in any block', async () => {
    const property = fc.asyncProperty(
      prose,
      blocks,
      fc.oneof(fc.integer({ min: 10, max: 40 }), fc.integer({ min: 10, max: 200 })),
      async (text, prefix, columns) => {
        const given = prefix === '# ' ? text.replaceAll('\n', ' ') : text;
        const line = Math.min(80, columns - (columnsOfBlock[prefix] ?? 0));
        expect(await maxHeld(given, prefix, columns)).toBeLessThanOrEqual(line);
      },
    );
    await fc.assert(property, { numRuns: runs(50, 1_500) });
  }, 60_000);

  test('the output is the same in one chunk and in single units', async () => {
    const property = fc.asyncProperty(
      prose,
      blocks,
      fc.integer({ min: 10, max: 200 }),
      async (text, prefix, columns) => {
        const whole = await rendered([prefix + text], { columns, colour: true });
        expect(await rendered((prefix + text).split(''), { columns, colour: true })).toBe(whole);
      },
    );
    await fc.assert(property, { numRuns: runs(50, 1_500) });
  }, 60_000);
});
