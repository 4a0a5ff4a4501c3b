// The terms of a search as an index is asked for them. Every text is quoted: nothing that a person types is an expression to FTS5.
import { ParleyError } from '../../service/errors.ts';
import type { SearchTerm } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { unspaced } from './search-schema.ts';

/** `words`: terms are words. `pieces`: terms are any characters in a row. */
export interface IndexQuery {
  readonly index: 'words' | 'pieces';
  readonly expression: string;
}

/** How many characters a piece has. */
const pieceLength = 3;
/** A single common character begins thousands of pieces: to ask for more of them costs more than a wait. */
const mostPieces = 5000;

export const searchTermStatements = {
  pieces: 'SELECT term FROM message_pieces_known WHERE term >= @from AND term < @to LIMIT @limit',
} as const;

/** A message with one such term is in the index of pieces, whole: so are all terms with it. */
export function indexQuery(connection: Connection, terms: readonly SearchTerm[]): IndexQuery {
  const inPieces = new RegExp(unspaced, 'u');
  if (!terms.some(({ text }) => inPieces.test(text))) {
    const words = terms.map(({ text, prefix }) => quoted(text) + (prefix ? ' *' : ''));
    return { index: 'words', expression: words.join(' AND ') };
  }
  const pieces = terms.map(({ text }) =>
    [...text].length >= pieceLength ? quoted(text) : shortText(connection, text),
  );
  return { index: 'pieces', expression: pieces.join(' AND ') };
}

/** One or two characters: every piece that begins with them. */
function shortText(connection: Connection, text: string): string {
  const from = text.toLowerCase();
  const bindings = { from, to: `${from}\u{10ffff}`, limit: mostPieces + 1 };
  const known = connection.all<{ term: string }>(searchTermStatements.pieces, bindings);
  if (known.length > mostPieces) {
    const problem = `has the word ${JSON.stringify(text)}, which is too short to be looked for`;
    throw new ParleyError('INVALID_REQUEST', `The query ${problem}.`, {
      hint: 'Add a character to it.',
      details: [{ field: 'q', problem }],
    });
  }
  // A piece that no index holds: it matches nothing.
  if (known.length === 0) return quoted(`${from}\u{10ffff}\u{10ffff}`);
  return `(${known.map(({ term }) => quoted(term)).join(' OR ')})`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
