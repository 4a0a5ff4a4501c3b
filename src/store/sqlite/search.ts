// A search: the newest hits of a project, scored by their own texts, and the best of them by session.
import type { Role, Session } from '../../service/session.ts';
import type { SearchHit, SearchItem, SearchPage } from '../../service/session-archive.ts';
import type { SearchFilter } from '../session-store.ts';
import type { Connection } from './connection.ts';
import { readSearchCursor, searchCursor } from './cursors.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import type { SessionRow } from './rows.ts';
import { toSession, toTime } from './rows.ts';
import { type HitRow, longHits } from './search-apart.ts';
import { type FindMatches, type Match, matchFinder } from './search-matches.ts';
import { indexQuery } from './search-terms.ts';
import { inProject, thisSession } from './sessions.ts';
import { snippetOf } from './snippet.ts';

/** How many hits are ranked: the newest. */
const mostHits = 10_000;
/** How many bytes of their texts are read for that, so that a few huge messages cannot stop everything else. */
const mostBytes = 16 * 1024 * 1024;
/** How many of those bytes are read before others get their turn: a few milliseconds' work. A row counts as some by itself. */
const mostUnbroken = 64 * 1024;
const bytesOfRow = 200;
const hitsOfSession = 3;
/** How many hits are read before others get their turn. */
const hitsOfStep = 1000;
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

// The index first, always; `owner` only narrows: who may see what is decided by the session.
function selectHits(index: 'words' | 'pieces'): string {
  return `
    SELECT message.id, message.session, message.created_at, octet_length(message.content) AS bytes
    FROM message_${index} CROSS JOIN messages AS message ON message.id = message_${index}.rowid
    CROSS JOIN sessions ON sessions.id = message.session
    WHERE message_${index} MATCH 'owner : "' || (
        SELECT printf('%03d', id) FROM projects WHERE project_id = @projectId
      ) || '" AND content : (' || @expression || ')'
      AND message_${index}.rowid < @before AND ${inProject} AND deleted_at IS NULL
    ORDER BY message_${index}.rowid DESC LIMIT @limit`;
}

const ofActive = `FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
  WHERE message.id = @message AND ${inProject} AND deleted_at IS NULL`;

export const searchStatements = { words: selectHits('words'), pieces: selectHits('pieces') } as const;

export const hitStatements = {
  content: `SELECT message.content ${ofActive}`,
  shown: `SELECT message.message_id, message.role, message.created_at, message.content ${ofActive}`,
  session: `SELECT session_id, title, sessions.created_at, updated_at, message_count ${ofActive}`,
  rowOf: `SELECT id FROM sessions WHERE ${thisSession}`,
} as const;

interface ShownRow {
  readonly message_id: string;
  readonly role: Role;
  readonly created_at: number;
  readonly content: string;
}

interface Hit {
  readonly message: number;
  readonly score: number;
}

/** A session among the hits. */
interface Found {
  readonly session: number;
  /** The newest first. */
  readonly hits: Hit[];
  /** Of the newest hit. */
  readonly time: number;
  score: number;
}

export interface SearchTools {
  readonly connection: Connection;
  readonly wait: LockWait;
}

export async function searchSessions(
  { connection, wait }: SearchTools,
  projectId: string,
  filter: SearchFilter,
): Promise<SearchPage> {
  const { index, expression } = await whenUnlocked(() => indexQuery(connection, filter.terms), wait);
  const matches = matchFinder(index, filter.terms);
  const rows: HitRow[] = [];
  // For the beginning of a word the index reads all words that go on from it, each time that it is asked.
  const hitsAtOnce = filter.terms.some(({ prefix }) => prefix) ? mostHits + 1 : hitsOfStep;
  for (let before = Number.MAX_SAFE_INTEGER; rows.length <= mostHits; await breath()) {
    const limit = Math.min(hitsAtOnce, mostHits + 1 - rows.length);
    const bindings = { projectId, expression, before, limit };
    const next = await whenUnlocked(() => connection.all<HitRow>(searchStatements[index], bindings), wait);
    rows.push(...next);
    if (next.length < limit) break;
    before = next.at(-1)?.id ?? 0;
  }
  rows.push(...(await longHits({ connection, wait }, projectId, matches, filter.terms.length, mostHits + 1)));
  rows.sort((one, other) => other.id - one.id);
  const ranked = await rank(rows.slice(0, mostHits), scorer(connection, projectId, filter, matches));
  const rest = ranked.slice(
    await whenUnlocked(() => beginOf(connection, projectId, filter.cursor, ranked), wait),
  );
  const shown = rest.slice(0, filter.limit);
  const items: SearchItem[] = [];
  for (const found of shown) {
    items.push(...(await whenUnlocked(() => toItem(connection, projectId, found, matches), wait)));
    await breath();
  }
  const last = shown.at(-1);
  const lastId = last && sessionOf(connection, projectId, last)?.session_id;
  const more = rest.length > filter.limit && last !== undefined;
  return {
    items,
    next_cursor: more ? searchCursor({ ...last, sessionId: lastId ?? '-' }) : null,
    newest_only: rows.length > mostHits,
  };
}

/** Everything else in this process gets its turn. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** By session: the best first, of equal ones that with the newest hit. Others get their turn between the texts. */
async function rank(rows: readonly HitRow[], score: (row: HitRow) => number): Promise<readonly Found[]> {
  const sessions = new Map<number, Found>();
  let unbroken = 0;
  for (const row of rows) {
    let found = sessions.get(row.session);
    if (found === undefined) {
      found = { session: row.session, hits: [], time: row.created_at, score: 0 };
      sessions.set(row.session, found);
    }
    const hit = { message: row.id, score: score(row) };
    found.score = Math.max(found.score, hit.score);
    found.hits.push(hit);
    unbroken += row.bytes + bytesOfRow;
    if (unbroken < mostUnbroken) continue;
    unbroken = 0;
    await breath();
  }
  return [...sessions.values()].sort(inOrder);
}

type Place = Pick<Found, 'score' | 'time' | 'session'>;

function inOrder(one: Place, other: Place): number {
  return other.score - one.score || other.time - one.time || other.session - one.session;
}

/** The first that comes after the last one shown. */
function beginOf(
  connection: Connection,
  projectId: string,
  cursor: string | null,
  ranked: readonly Found[],
): number {
  if (cursor === null) return 0;
  const { score, time, sessionId } = readSearchCursor(cursor);
  const row = connection.get<{ id: number }>(hitStatements.rowOf, { projectId, sessionId });
  const place = { score, time, session: row?.id ?? 0 };
  const at = ranked.findIndex((found) => inOrder(place, found) < 0);
  return at === -1 ? ranked.length : at;
}

/** A pure function of a message and the query, so that the pages of one search fit together. */
function scorer(
  connection: Connection,
  projectId: string,
  { terms }: SearchFilter,
  find: FindMatches,
): (row: HitRow) => number {
  let budget = mostBytes;
  return ({ id: message, bytes }) => {
    const counts = terms.map(() => 0);
    budget -= bytes;
    if (budget >= 0) {
      const content = connection.get<{ content: string }>(hitStatements.content, { projectId, message });
      for (const { term } of find(content?.content ?? '')) counts[term] = (counts[term] ?? 0) + 1;
    }
    const long = saturation * (1 - lengthWeight + (lengthWeight * bytes) / usualBytes);
    // The index has found each term at least once, whatever is found here.
    const score = counts.reduce((sum, count) => {
      const times = Math.max(count, 1);
      return sum + (times * (saturation + 1)) / (times + long);
    }, 0);
    return Math.round((score / terms.length) * 10_000) / 10_000;
  };
}

/** Nothing for a session that another process has deleted since it was ranked. */
function toItem(
  connection: Connection,
  projectId: string,
  found: Found,
  find: FindMatches,
): readonly SearchItem[] {
  const session = sessionOf(connection, projectId, found);
  if (session === null) return [];
  const best = found.hits.toSorted((one, other) => other.score - one.score).slice(0, hitsOfSession);
  const hits = best.flatMap(({ message }) => {
    const row = connection.get<ShownRow>(hitStatements.shown, { projectId, message });
    return row === undefined ? [] : [toHit(row, find)];
  });
  return [{ session, score: found.score, hits }];
}

function sessionOf(connection: Connection, projectId: string, { hits }: Found): Session | null {
  const message = hits[0]?.message ?? 0;
  const row = connection.get<SessionRow>(hitStatements.session, { projectId, message });
  return row === undefined ? null : toSession(row);
}

function toHit({ message_id, role, created_at, content }: ShownRow, find: FindMatches): SearchHit {
  return {
    message_id,
    role,
    created_at: toTime(created_at),
    snippet: snippetOf(content, firstMatches(content, find)),
  };
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
