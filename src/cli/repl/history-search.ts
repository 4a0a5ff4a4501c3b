// Searches the history for a line that contains a text (Ctrl-R). Each function handles one key. Like the editor, the functions are pure.
import type { EditResult } from './line-input.ts';
import { draftOf, type LineState, type Search } from './line-state.ts';

type QueryChange = { readonly typed: string } | { readonly erased: true };

/** Starts a search, or changes its text. */
export function changeSearch(state: LineState, change: QueryChange, history: readonly string[]): EditResult {
  const search = state.search ?? { query: '', found: null, draft: draftOf(state) };
  const query = 'typed' in change ? search.query + change.typed : [...search.query].slice(0, -1).join('');
  // A longer text is searched from the current line on, or not at all if no line has its beginning. A shorter text is searched from the
  // newest line on.
  const cannotMatch = 'typed' in change && search.query !== '' && search.found === null;
  const from = 'typed' in change && search.found !== null ? search.found : history.length - 1;
  const found = query === '' || cannotMatch ? null : indexOf(query, from, history);
  return {
    state: { ...state, search: { ...search, query, found } },
    action: found === null && query !== '' ? 'bell' : 'none',
  };
}

/** Finds the next older line. The current line stays if there is none. */
export function findNext(state: LineState, search: Search, history: readonly string[]): EditResult {
  if (search.found === null) return { state, action: search.query === '' ? 'none' : 'bell' };
  const shown = history[search.found];
  let found = indexOf(search.query, search.found - 1, history);
  while (found !== null && history[found] === shown) found = indexOf(search.query, found - 1, history);
  if (found === null) return { state, action: 'bell' };
  return { state: { ...state, search: { ...search, found } }, action: 'none' };
}

function indexOf(query: string, from: number, history: readonly string[]): number | null {
  const find = finderOf(query);
  for (let index = from; index >= 0; index--) if (find(history[index] ?? '') !== -1) return index;
  return null;
}

/** The position of the text in a line, or -1. */
export function placeIn(line: string, query: string): number {
  return finderOf(query)(line);
}

/**
 * Returns a function that finds the text in a line. Composed and decomposed accents are equal. The search is case-sensitive only if the text
 * has a capital letter.
 */
function finderOf(query: string): (line: string) => number {
  const isCaseSensitive = /\p{Lu}/u.test(query);
  const fold = (text: string) => (isCaseSensitive ? text : text.toLowerCase()).normalize('NFD');
  const foldedQuery = fold(query);
  return (line) => {
    const folded = fold(line);
    const at = folded.indexOf(foldedQuery);
    if (at <= 0 || folded.length === line.length) return at;
    // The text before the match is the longest beginning of the line whose folded length is at most `at`.
    let [low, high] = [0, line.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (fold(line.slice(0, middle)).length <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  };
}
