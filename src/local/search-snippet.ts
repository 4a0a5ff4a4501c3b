// A snippet: the part of a message around the terms of the search, on one line, with the hits marked.
import { snippetMarks } from '../service/session-archive.ts';
import type { Match } from './search-matches.ts';

/** The UTF-16 units before the first hit, and of the whole snippet. */
const unitsBefore = 40;
const maxUnits = 160;
/** How far, in UTF-16 units, a cut moves to fall between words. */
const maxShift = 15;

/** The snippet of a text around the first of `matches`; the beginning of the text if there are none. */
export function snippetOf(text: string, matches: readonly Match[]): string {
  const first = matches[0]?.start ?? 0;
  const start = first <= unitsBefore ? 0 : wordBoundary(text, first - unitsBefore, first);
  const end = start + maxUnits >= text.length ? text.length : wordEnd(text, start + maxUnits);
  let snippet = '';
  let at = start;
  for (const { start: from, end: to } of withoutOverlaps(matches)) {
    if (from < at || to > end) continue;
    const hit = `${snippetMarks.open}${withoutMarks(text.slice(from, to))}${snippetMarks.close}`;
    snippet += withoutMarks(text.slice(at, from)) + hit;
    at = to;
  }
  snippet += withoutMarks(text.slice(at, end));
  return `${start > 0 ? '…' : ''}${snippet.replace(/\s+/gu, ' ').trim()}${end < text.length ? '…' : ''}`;
}

/** Matches without overlaps: of two that overlap, the earlier or longer one stays. */
function withoutOverlaps(matches: readonly Match[]): readonly Match[] {
  const sortedMatches = matches.toSorted((one, other) => one.start - other.start || other.end - one.end);
  const separate: Match[] = [];
  for (const match of sortedMatches) if (match.start >= (separate.at(-1)?.end ?? 0)) separate.push(match);
  return separate;
}

/** The text without the characters that mark a hit. */
function withoutMarks(text: string): string {
  return text.replaceAll(snippetMarks.open, '[').replaceAll(snippetMarks.close, ']');
}

function wordBoundary(text: string, from: number, to: number): number {
  const space = text.slice(from, Math.min(from + maxShift, to)).search(/\s/);
  return outsidePair(text, space === -1 ? from : from + space + 1);
}

function wordEnd(text: string, at: number): number {
  const space = text.slice(at - maxShift, at).search(/\s(?=\S*$)/);
  return outsidePair(text, space === -1 ? at : at - maxShift + space);
}

/** The place of a cut, moved so that it does not divide a surrogate pair. */
function outsidePair(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}
