// No text of a reply controls the terminal, in any Markdown: the output has only printable text and Parley's own colours.
import fc from 'fast-check';
import stripAnsi from 'strip-ansi';
import { describe, expect, test } from 'vitest';
import { MarkdownDocument } from '../../../../src/cli/terminal/markdown/document.ts';
import { themeOf } from '../../../../src/cli/terminal/markdown/theme.ts';
import { textWidth } from '../../../../src/cli/terminal/text-width.ts';
import { attacks } from '../attacks.ts';
import { attackedPlaces } from './attacked-places.ts';
import { expectHarmless, hostileTextIsHarmless, markdownIsHarmless } from './properties.ts';
import { rendered } from './rendering.ts';

describe('an attack', () => {
  test.each(Object.keys(attacks))(
    '%s is harmless in every place, in one chunk, in single units, and cut in two anywhere',
    async (name) => {
      const attack = attacks[name] ?? '';
      for (const place of Object.values(attackedPlaces)) {
        const text = place(attack);
        const whole = await rendered([text]);
        expectHarmless(whole, false);
        const coloured = await rendered([text], { colour: true });
        expectHarmless(coloured, true);
        expect(await rendered(text.split(''))).toBe(whole);
        expect(await rendered(text.split(''), { colour: true })).toBe(coloured);
      }
      const whole = await rendered([attack]);
      for (let cut = 1; cut < attack.length; cut++) {
        expect(await rendered([attack.slice(0, cut), attack.slice(cut)])).toBe(whole);
      }
    },
  );

  test('is still visible', async () => {
    for (const attack of Object.values(attacks)) {
      expect(await rendered([attack], { columns: 500 })).toMatch(/\\x[0-9a-f]{2}|\\u\{[0-9a-f]+\}/);
    }
    expect(await rendered(['`\x1b]52;c;AAAA\x07`'])).toBe('`\\x1b]52;c;AAAA\\x07`\n');
    expect(await rendered(['a &#27;[31m b &#x202e; c &#10;d'])).toBe('a \\x1b[31m b \\u{202e} c d\n');
  });
});

describe('random text', () => {
  test('shows only permitted characters', () => fc.assert(hostileTextIsHarmless, { numRuns: 40 }));

  test('of Markdown shows only permitted characters', () => fc.assert(markdownIsHarmless, { numRuns: 40 }));
});

/** The renderer after another filter, which strips escape sequences chunk by chunk. */
function behindStripping(pieces: readonly string[]): string {
  const document = new MarkdownDocument({
    columns: () => 80,
    theme: themeOf({ colour: 0, formats: false }),
    measure: textWidth,
    highlighting: () => null,
  });
  return pieces.map((piece) => document.push(stripAnsi(piece))).join('') + document.end();
}

test('a filter that strips escape sequences fails the same assertion', () => {
  const survivors = Object.values(attacks).filter((attack) => {
    try {
      for (let cut = 0; cut < attack.length; cut++) {
        expectHarmless(behindStripping([attack.slice(0, cut), attack.slice(cut)]), false);
      }
      return false;
    } catch {
      return true;
    }
  });
  expect(survivors.length).toBeGreaterThan(35);
});
