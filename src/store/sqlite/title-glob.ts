// Writes a title pattern in the syntax of SQLite's GLOB (https://sqlite.org/lang_expr.html#glob), which compares characters exactly.
import type { TitlePart, TitlePattern } from '../session-filters.ts';

export function titleGlob(pattern: TitlePattern): string {
  // A set without ranges matches nothing, so the whole pattern matches nothing. GLOB takes an unclosed set the same way.
  if (pattern.some((part) => part.kind === 'set' && part.ranges.length === 0)) return '[';
  return pattern.map(partGlob).join('');
}

function partGlob(part: TitlePart): string {
  if (part.kind === 'any') return '*';
  if (part.kind === 'one') return '?';
  if (part.kind === 'text') return part.text.replace(/[*?[]/g, '[$&]');
  // Each character is written as a range, so that none is read as syntax. A `]` must come first instead.
  const ranges = part.ranges.map(({ from, to }) => (from === ']' ? from : `${from}-${to}`));
  return `[${part.isNegated ? '^' : ''}${ranges.join('')}]`;
}
