// Writes the words of a message for the index, and the query of a search. Each lexeme begins with the number of the project, so that a
// search never reads the words of other projects. The search rules divide texts into words. PostgreSQL's dictionaries are not used, because
// they know one language at a time and no script that is written without spaces.
import { foldCase } from '../search-characters.ts';
import type { SearchFilter, SearchTerm } from '../session-filters.ts';
import type { TextRules } from '../store-rules.ts';
import { unspaced } from '../unspaced-scripts.ts';

/** PostgreSQL's limits: 2,046 bytes for a lexeme, 1 MiB less one byte for a tsvector. A character of UTF-8 has at most four bytes. */
const longestWord = 500;
const maxBytes = 900_000;
/** The bytes of a lexeme besides its word: the entry, and the number of the project. */
const bytesOfEntry = 24;
const pieceLength = 3;

const hasUnspaced = new RegExp(unspaced, 'u');

/** The lexemes of a message as the text of a tsvector; null if they are too many or one is too long for an index. */
export function lexemesOf(text: string, project: number, { wordsOf }: TextRules): string | null {
  const words = new Set<string>();
  let bytes = 0;
  const add = (word: string): boolean => {
    if (words.has(word)) return true;
    words.add(word);
    bytes += Buffer.byteLength(word) + bytesOfEntry;
    return word.length <= longestWord && bytes <= maxBytes;
  };
  for (const word of wordsOf(text)) if (!add(`w${word}`)) return null;
  if (hasUnspaced.test(text)) {
    // Two more spaces, so that a piece begins at each of the last characters too.
    const characters = [...`${foldCase(text)}  `];
    for (let at = 0; at + pieceLength <= characters.length; at += 1)
      if (!add(`p${characters.slice(at, at + pieceLength).join('')}`)) return null;
  }
  return Array.from(words, (word) => quoted(project, word)).join(' ');
}

/** The tsquery for the messages that may hold all terms. `isExact`: each of them does; otherwise their texts must be tested. */
export function indexQuery(
  { matching, terms }: Pick<SearchFilter, 'matching' | 'terms'>,
  project: number,
  { wordsOf }: TextRules,
): { readonly query: string; readonly isExact: boolean } {
  const parts = terms.map((term) =>
    matching === 'words' ? wordParts(term, project, wordsOf) : pieceParts(term, project),
  );
  const isExact = matching === 'words' && parts.every((ofTerm) => ofTerm.length === 1);
  return { query: parts.flat().join(' & '), isExact };
}

/** The whole words that a message must hold, as `lexemesOf` writes them but without the project. */
export function wholeWords(
  { matching, terms }: Pick<SearchFilter, 'matching' | 'terms'>,
  { wordsOf }: TextRules,
): readonly string[] {
  if (matching !== 'words') return [];
  return terms.flatMap(({ text, prefix }) => {
    const words = wordsOf(text).map((word) => `w${word.slice(0, longestWord)}`);
    return prefix ? words.slice(0, -1) : words;
  });
}

function wordParts({ text, prefix }: SearchTerm, project: number, wordsOf: TextRules['wordsOf']): string[] {
  const words = wordsOf(text);
  return words.map((word, index) => {
    const part = quoted(project, `w${word.slice(0, longestWord)}`);
    return prefix && index === words.length - 1 ? `${part}:*` : part;
  });
}

function pieceParts({ text }: SearchTerm, project: number): string[] {
  const characters = [...foldCase(text)];
  if (characters.length < pieceLength) return [`${quoted(project, `p${characters.join('')}`)}:*`];
  return characters
    .slice(0, characters.length - pieceLength + 1)
    .map((_, at) => quoted(project, `p${characters.slice(at, at + pieceLength).join('')}`));
}

function quoted(project: number, word: string): string {
  return `'${`${project}:${word}`.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}
