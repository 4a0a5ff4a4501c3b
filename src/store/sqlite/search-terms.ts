// The terms of a search as an index is asked for them. Every text is quoted: nothing that a person types is an expression to FTS5.
import type { SearchFilter } from '../session-filters.ts';

/** How many characters a piece has. */
const pieceLength = 3;

export interface IndexQuery {
  /** Empty where no term can be looked for in the index: then each message of the project may hold them. */
  readonly expression: string;
  /** False where terms are left out, so that the text of each message must be looked through. */
  readonly isExact: boolean;
}

/**
 * A term of one or two characters is left out of the index of pieces. The pieces that begin with it could only be found among those of all
 * projects, and their number would tell what other projects hold.
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

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
