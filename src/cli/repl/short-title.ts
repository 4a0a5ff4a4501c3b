// Shortens a title for a place with little room: on one line, filtered, cut between graphemes.
import { filterLine } from '../terminal/filter.ts';
import { graphemesOf } from '../terminal/graphemes.ts';

export function shortTitle(title: string, maxLength: number): string {
  const characters = graphemesOf(filterLine(title));
  if (characters.length <= maxLength) return characters.join('');
  return `${characters.slice(0, Math.max(1, maxLength - 1)).join('')}…`;
}
