// Shortens a title for a place with little room: on one line, filtered, cut between graphemes.
import { filterLine } from '../terminal/filter.ts';

export function shortTitle(title: string, maxLength: number): string {
  const characters = [...new Intl.Segmenter().segment(filterLine(title))].map(({ segment }) => segment);
  if (characters.length <= maxLength) return characters.join('');
  return `${characters.slice(0, Math.max(1, maxLength - 1)).join('')}…`;
}
