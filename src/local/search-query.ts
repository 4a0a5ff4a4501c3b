// Reads a query as a person types it: words, "phrases", begin*. No other character is an operator, so no text becomes an expression by
// mistake. A query without a word, or with an open quotation mark, is an error that names the fault.
import { ParleyError } from '../service/errors.ts';
import type { Limits } from '../service/limits.ts';
import { hasWord } from '../store/search-characters.ts';
import type { SearchFilter, SearchTerm } from '../store/session-filters.ts';
import { unspaced } from '../store/unspaced-scripts.ts';
import { checkText } from './text-rules.ts';

/** A phrase in quotation marks, or a word up to the next white space or quotation mark. An asterisk may follow either. */
const part = /"(?<phrase>[^"]*)"(?<phraseBegins>\*)?|(?<word>[^\s"]+)/gu;

/** The terms of a query. Throws `INVALID_REQUEST` for a query without a word, with an open quotation mark, or over its limits. */
export function readQuery(query: string, limits: Limits): Pick<SearchFilter, 'terms' | 'matching'> {
  checkText('q', query);
  const length = [...query].length;
  if (length > limits.queryCharacters) {
    throw wrongQuery(`has ${length} characters; the limit is ${limits.queryCharacters}`);
  }
  // Some keyboards and editors write typographic quotation marks.
  const plain = query.replace(/[“”„]/g, '"');
  if ((plain.match(/"/g) ?? []).length % 2 === 1) {
    throw wrongQuery(`has a quotation mark that is not closed, at position ${plain.lastIndexOf('"') + 1}`);
  }
  // A term without letters and digits finds nothing.
  const terms = [...plain.matchAll(part)]
    .map(({ groups = {} }) => termOf(groups))
    .filter(({ text }) => hasWord(text));
  if (terms.length === 0) throw wrongQuery('holds no word: letters or digits are needed');
  if (terms.length > limits.queryTerms) {
    throw wrongQuery(`has ${terms.length} words and phrases; the limit is ${limits.queryTerms}`);
  }
  // A message that holds a term of such a script is itself in such a script, so all terms are searched in pieces.
  const inPieces = new RegExp(unspaced, 'u');
  return { terms, matching: terms.some(({ text }) => inPieces.test(text)) ? 'pieces' : 'words' };
}

function termOf({ phrase, phraseBegins, word = '' }: Record<string, string | undefined>): SearchTerm {
  if (phrase !== undefined) return { text: phrase.trim(), prefix: phraseBegins !== undefined };
  return { text: word.replace(/\*+$/, ''), prefix: word.endsWith('*') };
}

function wrongQuery(problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The query ${problem}.`, {
    hint: 'Give words, "a phrase", or the beginning of a word as in deploy*. All of them must be in a message.',
    details: [{ field: 'q', problem }],
  });
}
