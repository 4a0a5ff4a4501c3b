// A glob that is read as a pattern and written as SQLite's GLOB finds the same titles as the original glob. Another database translates the
// pattern in its own way, here as a regular expression, which must find the same titles.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTitlePattern } from '../../../src/local/title-pattern.ts';
import type { TitlePart, TitlePattern } from '../../../src/store/session-filters.ts';
import { titleGlob } from '../../../src/store/sqlite/title-glob.ts';
import { RawDatabase } from '../../support/raw-database.ts';

const database = new RawDatabase(':memory:');
const statement = database.prepare<[string, string]>('SELECT ? GLOB ?').pluck();
const isFound = (title: string, glob: string) => statement.get(title, glob) === 1;

function partExpression(part: TitlePart): string {
  if (part.kind === 'any') return '.*';
  if (part.kind === 'one') return '.';
  const escaped = (text: string) =>
    [...text].map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join('');
  if (part.kind === 'text') return escaped(part.text);
  const ranges = part.ranges.map(({ from, to }) => `${escaped(from)}-${escaped(to)}`);
  return `[${part.isNegated ? '^' : ''}${ranges.join('')}]`;
}

function expression(pattern: TitlePattern): RegExp {
  return new RegExp(`^${pattern.map(partExpression).join('')}$`, 'su');
}

const characters = fc.constantFrom(...'abcz-^]A🙂ö*?[ ');
const title = fc.array(characters, { maxLength: 6 }).map((units) => units.join(''));
const part = fc.oneof(
  fc.constantFrom(
    '*',
    '?',
    '[',
    ']',
    '[]',
    '[^]',
    '[]a]',
    '[^]a]',
    '[a-c]',
    '[^a-c]',
    '[z-a]',
    '[a-]',
    '[-a]',
    '[^-z]',
    '[a^-z]',
    '[]-a]',
    '[--a]',
    '[a-b-]',
  ),
  fc.array(characters, { maxLength: 4 }).map((units) => `[${units.join('')}]`),
  characters,
);
const glob = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(''));

test('a pattern finds the same titles as its glob', () => {
  fc.assert(
    fc.property(glob, fc.array(title, { minLength: 8, maxLength: 8 }), (given, titles) => {
      const pattern = readTitlePattern(given);
      const [back, matched] = [titleGlob(pattern), expression(pattern)];
      const wrong = [...titles, given].filter((one) => {
        const expected = isFound(one, given);
        return isFound(one, back) !== expected || matched.test(one) !== expected;
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['plan*', ['plan', 'plan A'], ['a plan', 'Plan']],
  ['[Pp]lan ?', ['plan A', 'Plan 🙂'], ['plan', 'plan AB']],
  ['[^a-c]*', ['d', '🙂a'], ['a', 'cd', '']],
  ['100[*]', ['100*'], ['1000']],
  ['[', [], ['[', '']],
  ['a[b', [], ['ab', 'a[b']],
])('%s finds %j and none of %j', (given, found, others) => {
  const pattern = readTitlePattern(given);
  const matched = [...found, ...others].filter((one) => isFound(one, titleGlob(pattern)));
  expect(matched).toEqual(found);
});
