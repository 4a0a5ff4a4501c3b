// A page of a search, made of what a store reads: the last hits, scored by their own texts, and the best of them by session. It knows no
// database, so that the same messages give the same page over every store.
import type { SearchHit, SearchItem } from '../service/session-archive.ts';
import type { SearchFilter, SearchPlace } from '../store/session-filters.ts';
import type { FoundMessage, SearchReads, SearchRule, ShownSession } from '../store/store-rules.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import { searchCursor } from './cursors.ts';
import { type FindMatches, type Match, matchFinder } from './search-matches.ts';
import { snippetOf } from './search-snippet.ts';

/** How many hits are ranked: those that came last. */
const mostHits = 10_000;
/** How many bytes of their texts are read for that, so that a few huge messages cannot stop everything else. */
const mostBytes = 16 * 1024 * 1024;
const hitsOfSession = 3;
/** How far into a text its first hit is looked for at first; UTF-16 units, as the next. */
const firstSearched = 8192;
/** More than a snippet takes of a text behind its first hit. */
const snippetReach = 512;
/** BM25, with the same weight for all words. How soon more of the same word counts for nothing, */
const saturation = 1.2;
/** how much the length of a text counts against it, */
const lengthWeight = 0.75;
/** and the length of a usual one. */
const usualBytes = 600;

/** A session among the hits. Its place has the best of their scores, and the time of the newest. */
interface Found extends SearchPlace {
  readonly hits: readonly { readonly id: number; readonly score: number }[];
}

export const searchPage: SearchRule = async (filter, reads) => {
  const find = matchFinder(filter);
  const hits = await reads.hits(mostHits + 1);
  const ranked = await rank(hits.slice(0, mostHits), filter, find, reads);
  const { after } = filter;
  const rest = after === null ? ranked : ranked.filter((found) => inOrder(after, found) < 0);
  const shown = rest.slice(0, filter.limit);
  const last = shown.at(-1);
  const more = rest.length > filter.limit && last !== undefined;
  return {
    items: await shownItems(shown, find, reads),
    next_cursor: more ? searchCursor(last) : null,
    newest_only: hits.length > mostHits,
  };
};

/** By session, the best first. */
async function rank(
  hits: readonly FoundMessage[],
  { terms }: SearchFilter,
  find: FindMatches,
  reads: SearchReads,
): Promise<readonly Found[]> {
  const sorted = hits.toSorted(newestFirst);
  let budget = mostBytes;
  const read = sorted.filter(({ bytes }) => {
    budget -= bytes;
    return budget >= 0;
  });
  const scores: number[] = [];
  for await (const texts of reads.texts(read)) {
    for (const text of texts)
      scores.push(scoreOf(sorted[scores.length]?.bytes ?? 0, terms.length, find, text));
    await yieldToEventLoop();
  }
  const sessions = new Map<string, { time: number; score: number; hits: { id: number; score: number }[] }>();
  for (const [index, { id, session_id, created_at, bytes }] of sorted.entries()) {
    const score = scores[index] ?? scoreOf(bytes, terms.length, find, null);
    const found = sessions.get(session_id);
    if (found === undefined) {
      sessions.set(session_id, { time: created_at, score, hits: [{ id, score }] });
      continue;
    }
    found.score = Math.max(found.score, score);
    found.hits.push({ id, score });
  }
  return Array.from(sessions, ([sessionId, found]) => ({ sessionId, ...found })).sort(inOrder);
}

/** An order that every store agrees on, whichever it found its hits in. */
function newestFirst(one: FoundMessage, other: FoundMessage): number {
  return (
    other.created_at - one.created_at ||
    byteOrder(other.session_id, one.session_id) ||
    other.position - one.position
  );
}

function inOrder(one: SearchPlace, other: SearchPlace): number {
  return other.score - one.score || other.time - one.time || byteOrder(other.sessionId, one.sessionId);
}

/** Ids are ASCII: their units are their bytes. */
function byteOrder(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** A function of a message and the query alone, so that the pages of one search fit together. `text` is null where it is not read. */
function scoreOf(bytes: number, terms: number, find: FindMatches, text: string | null): number {
  const counts = new Array<number>(terms).fill(0);
  if (text !== null) for (const { term } of find(text)) counts[term] = (counts[term] ?? 0) + 1;
  const long = saturation * (1 - lengthWeight + (lengthWeight * bytes) / usualBytes);
  // The index has found each term at least once, whatever is found here.
  const score = counts.reduce((sum, count) => {
    const times = Math.max(count, 1);
    return sum + (times * (saturation + 1)) / (times + long);
  }, 0);
  return Math.round((score / terms) * 10_000) / 10_000;
}

/** Without the sessions that have gone since they were ranked. */
async function shownItems(
  shown: readonly Found[],
  find: FindMatches,
  reads: SearchReads,
): Promise<readonly SearchItem[]> {
  const best = shown.map(({ sessionId: session_id, hits }) => ({
    session_id,
    messages: hits
      .toSorted((one, other) => other.score - one.score)
      .slice(0, hitsOfSession)
      .map(({ id }) => id),
  }));
  const items: SearchItem[] = [];
  let at = 0;
  for await (const one of reads.shown(best)) {
    const score = shown[at++]?.score ?? 0;
    if (one !== null)
      items.push({ session: one.session, score, hits: one.messages.map((message) => toHit(message, find)) });
    await yieldToEventLoop();
  }
  return items;
}

function toHit({ content, ...message }: ShownSession['messages'][number], find: FindMatches): SearchHit {
  return { ...message, snippet: snippetOf(content, firstMatches(content, find)) };
}

/** Those around the first. Most often it stands near the beginning: of a long text no more is searched than it takes. */
function firstMatches(content: string, find: FindMatches): readonly Match[] {
  for (let length = firstSearched; length < content.length; length *= 8) {
    // A word that is cut at the end is another word.
    const matches = find(content.slice(0, length)).filter(({ end }) => end < length - 1);
    if ((matches[0]?.start ?? length) < length - snippetReach) return matches;
  }
  return find(content);
}
