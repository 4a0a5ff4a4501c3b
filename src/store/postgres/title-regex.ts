// Writes a title pattern as a regular expression of PostgreSQL, for a column that compares byte by byte.
import type { TitlePart, TitlePattern } from '../session-filters.ts';

/** An expression that matches the whole title. */
export function titleRegex(pattern: TitlePattern): string {
  // With `(?s)` a point also matches a line break.
  return `(?s)^${pattern.map(partRegex).join('')}$`;
}

function partRegex(part: TitlePart): string {
  if (part.kind === 'any') return '.*';
  if (part.kind === 'one') return '.';
  if (part.kind === 'text') return Array.from(part.text, escaped).join('');
  // A set without ranges matches nothing, and so does an empty negative lookahead.
  if (part.ranges.length === 0) return '(?!)';
  const ranges = part.ranges.map(({ from, to }) =>
    from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`,
  );
  return `[${part.isNegated ? '^' : ''}${ranges.join('')}]`;
}

/** The character as its code point, unless it is a letter, a digit or a space. No character is then read as syntax, also inside a set. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return /[A-Za-z0-9 ]/.test(character) ? character : `\\U${code.toString(16).padStart(8, '0')}`;
}
