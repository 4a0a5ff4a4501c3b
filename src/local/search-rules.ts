// The rules of a search, as a store asks them.
import type { SearchRules } from '../store/store-rules.ts';
import { foldedWords, termMatcher } from './search-matches.ts';
import { searchPage } from './search-page.ts';

export const searchRules: SearchRules = {
  search: searchPage,
  wordsOf: foldedWords,
  matcher: termMatcher,
};
