// The terms of a search as an index is asked for them. Every text is quoted: nothing that a person types is an expression to FTS5.
import { foldCase } from '../search-characters.ts';
import { tooShort } from '../search-refusals.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { Connection } from './connection.ts';

/** How many characters a piece has. */
const pieceLength = 3;
/** A single common character begins thousands of pieces: to ask for more of them costs more than a wait. */
const mostPieces = 5000;

export const searchTermStatements = {
  pieces: 'SELECT term FROM message_pieces_known WHERE term >= @from AND term < @to LIMIT @limit',
} as const;

export function indexQuery(
  connection: Connection,
  { matching, terms }: Pick<SearchFilter, 'matching' | 'terms'>,
): string {
  if (matching === 'words') {
    return terms.map(({ text, prefix }) => quoted(text) + (prefix ? ' *' : '')).join(' AND ');
  }
  const pieces = terms.map(({ text }) =>
    [...text].length >= pieceLength ? quoted(text) : shortText(connection, text),
  );
  return pieces.join(' AND ');
}

/** One or two characters: every piece that begins with them. */
function shortText(connection: Connection, text: string): string {
  const from = foldCase(text);
  const bindings = { from, to: `${from}\u{10ffff}`, limit: mostPieces + 1 };
  const known = connection.all<{ term: string }>(searchTermStatements.pieces, bindings);
  if (known.length > mostPieces) throw tooShort(text);
  // A piece that no index holds: it matches nothing.
  if (known.length === 0) return quoted(`${from}\u{10ffff}\u{10ffff}`);
  return `(${known.map(({ term }) => quoted(term)).join(' OR ')})`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
