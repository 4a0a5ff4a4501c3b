// Makes a page of a search from what a store reads: the newest hits, scored by their own texts, and the best of them by session. The code
// knows no database, so the same messages give the same page over every store.
import type { SearchHit, SearchItem } from '../service/session-archive.ts';
import { PageBudget } from '../store/page-budget.ts';
import type { SearchFilter, SearchPlace } from '../store/session-filters.ts';
import type { FoundMessage, SearchReads, SearchRule, ShownSession } from '../store/store-rules.ts';
import { yieldToEventLoop } from '../system/yield-to-event-loop.ts';
import { searchCursor } from './cursors.ts';
import { type FindMatches, type Match, matchFinder } from './search-matches.ts';
import { snippetOf } from './search-snippet.ts';

/** How many hits are ranked: the newest ones. */
const maxHits = 10_000;
/** How many bytes of text are read for the scores. The limit keeps a few huge messages from blocking everything else. */
const maxBytes = 16 * 1024 * 1024;
const hitsOfSession = 3;
/** How much of a text is searched first for its first hit, in UTF-16 units. */
const firstSearched = 8192;
/** How many UTF-16 units after the first hit are enough for a snippet. */
const snippetReach = 512;
/** BM25, with equal weights for all words: how soon more matches of a word stop raising the score. */
const saturation = 1.2;
/** BM25: how much a long text lowers the score. */
const lengthWeight = 0.75;
/** BM25: the length of a usual text, in bytes. */
const defaultBytes = 600;

/** A session with hits: the best score and the newest time among them. */
interface RankedSession extends SearchPlace {
  readonly hits: readonly { readonly id: number; readonly score: number }[];
}

/**
 * The rule of a search: ranks the hits by BM25 (Robertson and Zaragoza, 2009) with equal weights for all words, the best sessions
 * first.
 */
export const searchPage: SearchRule = async (filter, reads) => {
  const find = matchFinder(filter);
  const hits = await reads.hits(maxHits + 1);
  const rankedSessions = await rank(hits.slice(0, maxHits), filter, find, reads);
  const { after } = filter;
  const followingSessions =
    after === null ? rankedSessions : rankedSessions.filter((session) => bestFirst(after, session) < 0);
  const page = followingSessions.slice(0, filter.limit);
  const { items, end } = await makeItems(page, find, reads);
  const last = page[end - 1];
  const hasMore = followingSessions.length > end && last !== undefined;
  return {
    items,
    next_cursor: hasMore ? searchCursor(last) : null,
    newest_only: hits.length > maxHits,
  };
};

/** Groups the hits by session, the best session first. */
async function rank(
  hits: readonly FoundMessage[],
  { terms }: SearchFilter,
  find: FindMatches,
  reads: SearchReads,
): Promise<readonly RankedSession[]> {
  const sortedHits = hits.toSorted(newestFirst);
  let budget = maxBytes;
  const hitsToRead = sortedHits.filter(({ bytes }) => {
    budget -= bytes;
    return budget >= 0;
  });
  const scores: number[] = [];
  for await (const texts of reads.texts(hitsToRead)) {
    for (const text of texts)
      scores.push(scoreOf(sortedHits[scores.length]?.bytes ?? 0, terms.length, find, text));
    await yieldToEventLoop();
  }
  const sessions = new Map<string, { time: number; score: number; hits: { id: number; score: number }[] }>();
  for (const [index, { id, session_id, created_at, bytes }] of sortedHits.entries()) {
    const score = scores[index] ?? scoreOf(bytes, terms.length, find, null);
    const session = sessions.get(session_id);
    if (session === undefined) {
      sessions.set(session_id, { time: created_at, score, hits: [{ id, score }] });
      continue;
    }
    session.score = Math.max(session.score, score);
    session.hits.push({ id, score });
  }
  return Array.from(sessions, ([sessionId, session]) => ({ sessionId, ...session })).sort(bestFirst);
}

/** A total order, so that every store ranks the same hits. */
function newestFirst(one: FoundMessage, other: FoundMessage): number {
  return (
    other.created_at - one.created_at ||
    compareBytes(other.session_id, one.session_id) ||
    other.position - one.position
  );
}

function bestFirst(one: SearchPlace, other: SearchPlace): number {
  return other.score - one.score || other.time - one.time || compareBytes(other.sessionId, one.sessionId);
}

/** Compares ids by bytes. Ids are ASCII, so their UTF-16 units have the order of their bytes. */
function compareBytes(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/**
 * The score depends on the message and the query alone, so that the pages of one search fit together. `text` is null if it is not read.
 */
function scoreOf(bytes: number, terms: number, find: FindMatches, text: string | null): number {
  const counts = new Array<number>(terms).fill(0);
  if (text !== null) for (const { term } of find(text)) counts[term] = (counts[term] ?? 0) + 1;
  const lengthFactor = saturation * (1 - lengthWeight + (lengthWeight * bytes) / defaultBytes);
  // Each term counts at least once, because the index has found it in the message.
  const score = counts.reduce((sum, count) => {
    const times = Math.max(count, 1);
    return sum + (times * (saturation + 1)) / (times + lengthFactor);
  }, 0);
  return Math.round((score / terms) * 10_000) / 10_000;
}

/**
 * The items of a page, without sessions that were deleted since they were ranked. `end` is the number of sessions that the page passes: it
 * ends before the first session that has no room.
 */
async function makeItems(
  page: readonly RankedSession[],
  find: FindMatches,
  reads: SearchReads,
): Promise<{ readonly items: readonly SearchItem[]; readonly end: number }> {
  const requestedSessions = page.map(({ sessionId: session_id, hits }) => ({
    session_id,
    messages: hits
      .toSorted((one, other) => other.score - one.score)
      .slice(0, hitsOfSession)
      .map(({ id }) => id),
  }));
  const items: SearchItem[] = [];
  const budget = new PageBudget(1);
  let end = 0;
  for await (const one of reads.shown(requestedSessions)) {
    const item = one && itemOf(one, page[end]?.score ?? 0, find);
    if (item !== null) {
      if (!budget.take(...textsOf(item))) break;
      items.push(item);
    }
    end += 1;
    await yieldToEventLoop();
  }
  return { items, end };
}

function itemOf({ session, messages }: ShownSession, score: number, find: FindMatches): SearchItem {
  return { session, score, hits: messages.map((message) => toHit(message, find)) };
}

function textsOf({ session, hits }: SearchItem): readonly (string | null)[] {
  const { title, system, parameters } = session;
  return [title, system, JSON.stringify(parameters), ...hits.map(({ snippet }) => snippet)];
}

function toHit(message: ShownSession['messages'][number], find: FindMatches): SearchHit {
  const { message_id, role, created_at, content } = message;
  return { message_id, role, created_at, snippet: snippetOf(content, firstMatches(content, find)) };
}

/** The matches around the first one. Most first matches are near the beginning, so a long text is searched in growing parts. */
function firstMatches(content: string, find: FindMatches): readonly Match[] {
  for (let length = firstSearched; length < content.length; length *= 8) {
    // A word at the end of a part may be cut, and a cut word is another word.
    const matches = find(content.slice(0, length)).filter(({ end }) => end < length - 1);
    if ((matches[0]?.start ?? length) < length - snippetReach) return matches;
  }
  return find(content);
}
