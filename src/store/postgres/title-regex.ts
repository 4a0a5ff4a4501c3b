// A pattern of titles as a POSIX regular expression of PostgreSQL, over a column that compares byte by byte.
import type { TitlePart, TitlePattern } from '../session-filters.ts';

export function titleRegex(pattern: TitlePattern): string {
  // `(?s)`: a point is any character, a line break too.
  return `(?s)^${pattern.map(partRegex).join('')}$`;
}

function partRegex(part: TitlePart): string {
  if (part.kind === 'any') return '.*';
  if (part.kind === 'one') return '.';
  if (part.kind === 'text') return Array.from(part.text, escaped).join('');
  // A set of nothing: what cannot stand behind the end.
  if (part.ranges.length === 0) return '(?!)';
  const ranges = part.ranges.map(({ from, to }) =>
    from === to ? escaped(from) : `${escaped(from)}-${escaped(to)}`,
  );
  return `[${part.isNegated ? '^' : ''}${ranges.join('')}]`;
}

/** As its number: no character then means anything else, in a set neither. */
function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return /[A-Za-z0-9 ]/.test(character) ? character : `\\U${code.toString(16).padStart(8, '0')}`;
}
