// The properties of every reply. The tests check each with some dozens of random texts, `properties.long.ts` with many thousands.
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect } from 'vitest';
import { hostileText, isHarmless, withoutOwnColour } from '../attacks.ts';
import { markdownText } from './markdown-texts.ts';
import { inPieces, rendered, stringTerminal, writerTo } from './rendering.ts';

/** Chunks of the length of a model's tokens, or of network packets. */
const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 300 })), {
  minLength: 1,
  maxLength: 20,
});
const widths = fc.constantFrom(8, 20, 40, 80, 200);

export const sameInAnyPieces = fc.asyncProperty(
  markdownText,
  lengths,
  widths,
  fc.boolean(),
  async (text, cut, columns, colour) => {
    const whole = await rendered([text], { columns, colour });
    expect(await rendered(inPieces(text, cut), { columns, colour })).toBe(whole);
  },
);

export const sameInSingleUnits = fc.asyncProperty(
  markdownText,
  widths,
  fc.boolean(),
  async (text, columns, colour) => {
    const whole = await rendered([text], { columns, colour });
    expect(await rendered(text.split(''), { columns, colour })).toBe(whole);
  },
);

/** The generated words without a meaning in Markdown. */
const plainWords = /quick|fox|jumps|over|lazy|dog|while|snake_case|stay|日本語の文章です。|한국어|tude/g;
const wordsOf = (text: string): readonly string[] => text.match(plainWords) ?? [];

export const everyWordIsShownOnce = fc.asyncProperty(markdownText, fc.boolean(), async (text, colour) => {
  // This width wraps no cell of a table.
  const shown = await rendered([text], { columns: 1_000_000, colour });
  expect(wordsOf(stripVTControlCharacters(shown))).toEqual(wordsOf(text));
});

/** Without colour there are no escape sequences. */
export function expectHarmless(written: string, colour: boolean): void {
  expect(isHarmless(colour ? withoutOwnColour(written) : written)).toBe(true);
}

/** Each run has fifty texts. */
export const hostileTextIsHarmless = fc.asyncProperty(
  fc.array(hostileText, { minLength: 50, maxLength: 50 }),
  fc.boolean(),
  fc.constantFrom('', '`', '\n\n'),
  async (all, colour, between) => {
    const terminal = stringTerminal({ colour });
    const writer = writerTo(terminal);
    for (const text of all) await writer.write(text + between);
    await writer.endLine();
    expectHarmless(terminal.text(), colour);
  },
);

export const markdownIsHarmless = fc.asyncProperty(markdownText, fc.boolean(), async (text, colour) => {
  expectHarmless(await rendered([text], { colour }), colour);
});
