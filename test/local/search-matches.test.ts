// The matches of search terms in a text.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { matchFinder, termMatcher } from '../../src/local/search-matches.ts';

const word = fc.constantFrom('a', 'ab', 'Ab', 'aab', 'b1', '1', 'AB1');
const phrase = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' - '));
const term = fc.record({ text: phrase, prefix: fc.boolean() });
const text = fc.array(
  fc.oneof(word, fc.constantFrom(' ', '-', '_', '\n', '\x7f', '@', '[', '`', '{', '/', ':')),
);

it('a text of ASCII alone has the matches that it has beside another script', () => {
  fc.assert(
    fc.property(fc.array(term, { minLength: 1, maxLength: 3 }), text, (terms, parts) => {
      const find = matchFinder({ matching: 'words', terms });
      expect(find(parts.join(''))).toEqual(find(`${parts.join('')} ß`));
    }),
  );
});

it('a text holds all terms where each has a match in it', () => {
  fc.assert(
    fc.property(fc.array(term, { minLength: 1, maxLength: 3 }), text, (terms, parts) => {
      const filter = { matching: 'words' as const, terms };
      const matched = new Set(matchFinder(filter)(parts.join('')).map((match) => match.term));
      expect(termMatcher(filter)(parts.join(''))).toBe(matched.size === terms.length);
    }),
  );
});

it('a long word in a text of one long word takes no time that grows with both', () => {
  const find = matchFinder({ matching: 'words', terms: [{ text: 'a'.repeat(500), prefix: false }] });
  expect(find('a'.repeat(1_000_000))).toEqual([]);
});
