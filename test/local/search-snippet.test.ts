// The snippet of a search result: its cut and its marks.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchFinder } from '../../src/local/search-matches.ts';
import { snippetOf } from '../../src/local/search-snippet.ts';

const snippet = (text: string, ...words: readonly string[]) =>
  snippetOf(
    text,
    matchFinder({ matching: 'words', terms: words.map((word) => ({ text: word, prefix: false })) })(text),
  );

it('a short text is shown whole, on one line, with every hit marked', () => {
  expect(snippet('A fox.\n\n  A Fox,\tand more', 'fox')).toBe('A ⟦fox⟧. A ⟦Fox⟧, and more');
});

it('a long text is shown around its first hit, cut between words', () => {
  const text = `${'before '.repeat(50)}the fox ${'after '.repeat(50)}`;
  const shown = snippet(text, 'fox');
  expect(shown).toMatch(/^…(before )+the ⟦fox⟧ (after )+after…$/);
  expect(shown.length).toBeLessThan(180);
});

it('marks that stand in the text are not taken for marks of a hit', () => {
  expect(snippet('a ⟦fake⟧ fox', 'fox')).toBe('a [fake] ⟦fox⟧');
});

it('hits that overlap are marked once', () => {
  expect(snippet('the brown fox', 'brown fox', 'fox')).toBe('the ⟦brown fox⟧');
});

it('no snippet holds half of a character, and its marks come in pairs', () => {
  const text = fc.array(fc.constantFrom('😀', '👩‍👩‍👧', 'fox', ' ', 'é', '⟦', '⟧', '\n', 'long'), {
    maxLength: 120,
  });
  fc.assert(
    fc.property(text, (parts) => {
      const shown = snippet(parts.join(''), 'fox');
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).toMatch(/^([^⟦⟧\n]|⟦fox⟧)*$/u);
    }),
  );
});
