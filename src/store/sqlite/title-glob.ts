// A pattern of titles as SQLite's GLOB is given it.
import type { TitlePart, TitlePattern } from '../session-filters.ts';

export function titleGlob(pattern: TitlePattern): string {
  // A set that is not closed matches nothing, and nothing matches with it.
  if (pattern.some((part) => part.kind === 'set' && part.ranges.length === 0)) return '[';
  return pattern.map(partGlob).join('');
}

function partGlob(part: TitlePart): string {
  if (part.kind === 'any') return '*';
  if (part.kind === 'one') return '?';
  if (part.kind === 'text') return part.text.replace(/[*?[]/g, '[$&]');
  // Each character as a range of its own, so that none is taken for the beginning of another; but `]`, which stands first.
  const ranges = part.ranges.map(({ from, to }) => (from === ']' ? from : `${from}-${to}`));
  return `[${part.isNegated ? '^' : ''}${ranges.join('')}]`;
}
