// Writes the terms of a search as an FTS5 expression. Every text is quoted, so FTS5 reads nothing that a person types as syntax.
import type { SearchFilter } from '../session-filters.ts';

/** How many characters a piece has. */
const pieceLength = 3;

export interface IndexQuery {
  /** Empty if the index can look up none of the terms; each message of the project may then hold them. */
  readonly expression: string;
  /** False if a term is left out; the text of each message found must then be tested. */
  readonly isExact: boolean;
}

/**
 * The query of the index of words or of pieces. A term of one or two characters is left out for the index of pieces: FTS5 would look up
 * every piece of all projects that begins with it, so the time of the search would depend on what other projects hold.
 */
export function indexQuery({ matching, terms }: Pick<SearchFilter, 'matching' | 'terms'>): IndexQuery {
  if (matching === 'words') {
    const words = terms.map(({ text, prefix }) => quoted(text) + (prefix ? ' *' : ''));
    return { expression: words.join(' AND '), isExact: true };
  }
  const known = terms.filter(({ text }) => [...text].length >= pieceLength);
  const expression = known.map(({ text }) => quoted(text)).join(' AND ');
  return { expression, isExact: known.length === terms.length };
}

/** True if a term is the beginning of words in the index of words. */
export function hasPrefix({ matching, terms }: Pick<SearchFilter, 'matching' | 'terms'>): boolean {
  return matching === 'words' && terms.some(({ prefix }) => prefix);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
