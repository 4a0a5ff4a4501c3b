// Shortens a title for a place with little room: on one line, filtered, cut between graphemes.
import { filterLine } from '../terminal/filter.ts';
import { graphemesOf } from '../terminal/graphemes.ts';

/** The most UTF-16 units per character. Only the beginning of a long text is divided, because that takes quadratic time. */
const maxUnits = 12;

export function shortTitle(title: string, maxLength: number): string {
  const beginning = title.slice(0, maxUnits * maxLength).replace(/[\ud800-\udbff]$/, '');
  const characters = graphemesOf(filterLine(beginning));
  if (characters.length <= maxLength && beginning === title) return characters.join('');
  return `${characters.slice(0, Math.max(1, maxLength - 1)).join('')}…`;
}
