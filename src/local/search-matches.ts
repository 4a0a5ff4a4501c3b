// Finds the terms of a search in a text, for the score and the snippet of a message. The index of a store has found the message already.
// The index counts words over all projects, and a score must not reveal those counts, so the text itself is read.
import { foldCase, foldWord, wordsIn } from '../store/search-characters.ts';
import type { SearchFilter, SearchTerm } from '../store/session-filters.ts';

/** One place of a term in a text, in UTF-16 units; `end` is the index after the last unit. */
export interface Match {
  /** The index of the term in the query. */
  readonly term: number;
  readonly start: number;
  readonly end: number;
}

/** The places of all terms in a text, in their order, at most {@link maxMatches} per term. */
export type FindMatches = (text: string) => readonly Match[];

/** The most matches of one term in one text. More matches do not raise the score. */
const maxMatches = 50;
const longText = 32 * 1024;

export function matchFinder({ matching, terms }: Pick<SearchFilter, 'matching' | 'terms'>): FindMatches {
  return matching === 'words' ? wordFinder(terms) : pieceFinder(terms);
}

/** Whether a text holds all terms. Most texts lack a part of one. A search for the parts is far faster than the division into words. */
export function termMatcher(filter: Pick<SearchFilter, 'matching' | 'terms'>): (text: string) => boolean {
  const { matching, terms } = filter;
  const find = matchFinder(filter);
  const parts = matching === 'words' ? terms.flatMap(({ text }) => foldedWords(text)) : [];
  return (text) =>
    holdsAll(foldWord(text), parts) && new Set(find(text).map(({ term }) => term)).size === terms.length;
}

const ascii = /^[\x00-\x7f]*$/;

interface SoughtTerm {
  readonly words: readonly Word[];
  readonly prefix: boolean;
}

interface Word {
  readonly folded: string;
  readonly start: number;
  readonly end: number;
}

function wordFinder(terms: readonly SearchTerm[]): FindMatches {
  const soughtTerms = terms.map(({ text, prefix }) => ({ words: wordsOf(text), prefix }));
  const isBeginning = ({ words, prefix }: SoughtTerm) => prefix && words.length === 1;
  const firstWords = new Set(soughtTerms.filter((term) => !isBeginning(term)).flatMap(firstWord));
  const beginnings = soughtTerms.filter(isBeginning).flatMap(firstWord);
  const parts = soughtTerms.flatMap(({ words }) => words.map(({ folded }) => folded));
  const isPlain = parts.every((part) => ascii.test(part));
  return (text) => {
    if (isPlain && ascii.test(text)) return asciiMatches(soughtTerms, text);
    // A long text mostly lacks one of the parts. A search for the parts is far faster than the division into words.
    if (text.length > longText && !holdsAll(foldWord(text), parts)) return [];
    const words = wordsOf(text);
    const counts = soughtTerms.map(() => 0);
    const matches: Match[] = [];
    for (const [at, { folded, start }] of words.entries()) {
      // Most words are not the beginning of a term.
      if (!firstWords.has(folded) && !beginnings.some((beginning) => folded.startsWith(beginning))) continue;
      for (const [term, { words: phrase, prefix }] of soughtTerms.entries()) {
        if ((counts[term] ?? 0) >= maxMatches || !matchesAt(words, at, phrase, prefix)) continue;
        counts[term] = (counts[term] ?? 0) + 1;
        matches.push({ term, start, end: words[at + phrase.length - 1]?.end ?? start });
      }
    }
    return matches;
  };
}

/** The same matches in a text of ASCII alone, whose words are runs of letters and digits: it need not be divided into words. */
function asciiMatches(soughtTerms: readonly SoughtTerm[], text: string): readonly Match[] {
  const foldedText = text.toLowerCase();
  const matches = soughtTerms.flatMap(({ words, prefix }, term) => {
    const [first, ...rest] = words.map((word) => word.folded);
    const places: Match[] = [];
    if (first === undefined) return places;
    let next = 0;
    for (let start = foldedText.indexOf(first); start >= 0; start = foldedText.indexOf(first, next)) {
      if (places.length === maxMatches) break;
      next = endOfWord(foldedText, start + first.length);
      let isFound = !isWordCode(foldedText.charCodeAt(start - 1));
      let end = start;
      for (const [index, word] of [first, ...rest].entries()) {
        while (index > 0 && end < foldedText.length && !isWordCode(foldedText.charCodeAt(end))) end += 1;
        const wordEnd = end + word.length;
        isFound &&= foldedText.startsWith(word, end);
        end = endOfWord(foldedText, wordEnd);
        isFound &&= end === wordEnd || (prefix && index === rest.length);
        if (!isFound) break;
      }
      if (isFound) places.push({ term, start, end });
    }
    return places;
  });
  return matches.sort((one, other) => one.start - other.start);
}

function endOfWord(folded: string, from: number): number {
  let end = from;
  while (isWordCode(folded.charCodeAt(end))) end += 1;
  return end;
}

/** True for the code of a small letter or a digit. Beyond the ends of a text the code is NaN. */
function isWordCode(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function holdsAll(text: string, parts: readonly string[]): boolean {
  return parts.every((part) => text.includes(part));
}

/** The first word of a term; empty for a term without words. */
function firstWord({ words }: SoughtTerm): readonly string[] {
  return words.slice(0, 1).map(({ folded }) => folded);
}

function matchesAt(words: readonly Word[], at: number, phrase: readonly Word[], prefix: boolean): boolean {
  return phrase.every(({ folded }, offset) => {
    const there = words[at + offset]?.folded;
    const isPrefix = prefix && offset === phrase.length - 1;
    return there === folded || (isPrefix && there?.startsWith(folded) === true);
  });
}

/** The words of a text in their order, folded for comparison. */
export function foldedWords(text: string): readonly string[] {
  return wordsOf(text).map((word) => word.folded);
}

function wordsOf(text: string): readonly Word[] {
  return Array.from(wordsIn(text), wordOf);
}

function wordOf(match: RegExpMatchArray): Word {
  const text = match[0];
  const start = match.index ?? 0;
  return { folded: foldWord(text), start, end: start + text.length };
}

function pieceFinder(terms: readonly SearchTerm[]): FindMatches {
  const pieces = terms.map(({ text }) => foldCase(text));
  return (text) => {
    const foldedText = foldCase(text);
    return pieces
      .flatMap((piece, term) =>
        Array.from(placesOf(piece, foldedText), (start) => ({ term, start, end: start + piece.length })),
      )
      .sort((one, other) => one.start - other.start);
  };
}

function* placesOf(piece: string, text: string): Generator<number> {
  let count = 0;
  for (
    let at = text.indexOf(piece);
    at >= 0 && count < maxMatches;
    at = text.indexOf(piece, at + piece.length)
  ) {
    count += 1;
    yield at;
  }
}
