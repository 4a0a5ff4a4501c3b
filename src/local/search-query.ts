// What a search is asked for, as a person types it: words, "phrases", begin*. Nothing else in it means anything, so that no text is
// an expression by mistake. A query without a word, or with an open quotation mark, is an error that says so.
import { ParleyError } from '../service/errors.ts';
import type { Limits } from '../service/limits.ts';
import { hasWord } from '../store/search-characters.ts';
import type { SearchFilter, SearchTerm } from '../store/session-filters.ts';
import { unspaced } from '../store/unspaced-scripts.ts';
import { checkText } from './text-rules.ts';

/** A phrase with its closing mark, or a word up to the next white space or mark; each may end in an asterisk. */
const part = /"(?<phrase>[^"]*)"(?<phraseBegins>\*)?|(?<word>[^\s"]+)/gu;

export function readQuery(query: string, limits: Limits): Pick<SearchFilter, 'terms' | 'matching'> {
  checkText('q', query);
  const length = [...query].length;
  if (length > limits.queryCharacters) {
    throw wrongQuery(`has ${length} characters; the limit is ${limits.queryCharacters}`);
  }
  // Typographic marks are what some keyboards and documents make of the plain one.
  const plain = query.replace(/[“”„]/g, '"');
  if ((plain.match(/"/g) ?? []).length % 2 === 1) {
    throw wrongQuery(`has a quotation mark that is not closed, at position ${plain.lastIndexOf('"') + 1}`);
  }
  // What has neither letters nor digits looks for nothing.
  const terms = [...plain.matchAll(part)]
    .map(({ groups = {} }) => termOf(groups))
    .filter(({ text }) => hasWord(text));
  if (terms.length === 0) throw wrongQuery('holds no word: letters or digits are needed');
  if (terms.length > limits.queryTerms) {
    throw wrongQuery(`has ${terms.length} words and phrases; the limit is ${limits.queryTerms}`);
  }
  // A message with one such term is in such a script, too: so are all terms with it.
  const inPieces = new RegExp(unspaced, 'u');
  return { terms, matching: terms.some(({ text }) => inPieces.test(text)) ? 'pieces' : 'words' };
}

function termOf({ phrase, phraseBegins, word = '' }: Record<string, string | undefined>): SearchTerm {
  if (phrase !== undefined) return { text: phrase.trim(), prefix: phraseBegins !== undefined };
  return { text: word.replace(/\*+$/, ''), prefix: word.endsWith('*') };
}

function wrongQuery(problem: string): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The query ${problem}.`, {
    hint: 'A message is found that has all the words of it: plain ones, "a phrase", or begin* for words that begin so.',
    details: [{ field: 'q', problem }],
  });
}
