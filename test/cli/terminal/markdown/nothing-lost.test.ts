// Every word of a reply is shown, once and in its place, whatever the Markdown around it.
import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { markdownText } from './markdown-texts.ts';
import { rendered } from './rendering.ts';

/** Of the generated words, those that mean nothing to Markdown. */
const plainWords = /quick|fox|jumps|over|lazy|dog|while|snake_case|stay|日本語の文章です。|한국어|tude/g;

function wordsOf(text: string): readonly string[] {
  return text.match(plainWords) ?? [];
}

test('no word of 1,000 random documents is lost, doubled or moved', async () => {
  const property = fc.asyncProperty(markdownText, fc.boolean(), async (text, colour) => {
    // So wide that no cell of a table wraps.
    const shown = await rendered([text], { columns: 1_000_000, colour });
    expect(wordsOf(stripVTControlCharacters(shown))).toEqual(wordsOf(text));
  });
  await fc.assert(property, { numRuns: 1_000 });
}, 120_000);
