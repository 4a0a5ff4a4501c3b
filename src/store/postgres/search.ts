// What a search reads: hits of the index, the newest first, and messages that are not in the index yet; then texts and sessions. The search
// rule (store-rules.ts) ranks them and makes the page. Each row is looked up by LATERAL. With plain joins the planner would read all
// sessions.
import { toTime } from '../../service/iso-time.ts';
import { pageBytes } from '../../service/limits.ts';
import type { Role } from '../../service/session.ts';
import { type SessionRow, toSession } from '../rows.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { FoundMessage, SearchReads, ShownSession, TextRules } from '../store-rules.ts';
import { fieldsOf } from './columns.ts';
import type { Ask } from './connection-pool.ts';
import type { IndexedProject } from './search-index.ts';
import { indexQuery } from './search-words.ts';
import { conditionsFrom, conditionValues, isNarrowed } from './session-conditions.ts';
import { sessionColumns, settingsBytes } from './sessions.ts';
import { plannedAnew, statement } from './statement.ts';

/** A text of at most so many bytes is read together with its hit, so that 10,000 hits take at most 16 MB. */
const bytesWithHit = 1600;
/** How many bytes of texts, and how many rows, are read at a time. */
const bytesOfStep = 1024 * 1024;
const rowsOfStep = 1000;

// The inner LIMIT leaves one way to the session: by its number. For a project that its statistics do not know yet, the planner would read
// all sessions of the project for each row.
const activeSession = (row: string, conditions = '') => `
  CROSS JOIN LATERAL (
    SELECT session.* FROM (SELECT * FROM parley.sessions WHERE sessions.id = ${row}.session LIMIT 1) AS session
    WHERE session.project = $1 AND session.deleted_at IS NULL ${conditions} LIMIT 1
  ) AS session`;
const messageOf = (row: string) => `
  CROSS JOIN LATERAL (
    SELECT messages.* FROM parley.messages
    WHERE messages.session = ${row}.session AND messages.position = ${row}.position LIMIT 1
  ) AS message`;
const found = (which: string, conditions = '') => `
  SELECT search.id, search.session, session.session_id, search.position, search.created_at, search.bytes, (
    SELECT messages.content FROM parley.messages
    WHERE messages.session = search.session AND messages.position = search.position
      AND search.bytes <= ${bytesWithHit}
  ) AS content
  FROM parley.search ${activeSession('search', conditions)}
  WHERE ${which} AND search.id < $2 ORDER BY search.id DESC LIMIT $3`;
const hits = plannedAnew(found('search.words @@ $4::tsquery'));
/** Messages with more words than an index takes. Their texts are tested for the terms. */
const unindexed = statement(found('search.words IS NULL'));
const queuedOf = (conditions: string) => `
  SELECT to_index.session, session.session_id, to_index.position, message.created_at, to_index.bytes
  FROM parley.to_index ${activeSession('to_index', conditions)} ${messageOf('to_index')}
  WHERE to_index.project = $1`;
const inAll = { hits, unindexed, queued: statement(queuedOf('')) } as const;
/** The statements of {@link inAll}, for the sessions that meet conditions. */
const inSome = {
  hits: plannedAnew(found('search.words @@ $4::tsquery', conditionsFrom(5))),
  unindexed: plannedAnew(found('search.words IS NULL', conditionsFrom(4))),
  queued: plannedAnew(queuedOf(conditionsFrom(2))),
} as const;
const ofPlaces = `
  FROM unnest($2::bigint[], $3::integer[]) WITH ORDINALITY AS input (session, position, place)
  ${activeSession('input')} ${messageOf('input')} ORDER BY input.place`;
const contents = statement(`SELECT input.place, message.content ${ofPlaces}`);
const shownMessages = statement(`
  SELECT input.place, message.message_id, message.role, message.created_at, message.content ${ofPlaces}`);
// A session is not sent if the settings of those before it fill a page (session-pages.ts). The search rule ends the page before it.
const shownSessions = statement(`
  SELECT place, ${sessionColumns} FROM (
    SELECT input.place, session.*, sum(${settingsBytes}) OVER (ORDER BY input.place) - ${settingsBytes} AS bytes
    FROM unnest($2::bigint[]) WITH ORDINALITY AS input (session, place) ${activeSession('input')}
  ) AS session WHERE session.bytes <= ${pageBytes}`);

/** Messages that are not in the index yet get numbers from here on. */
const firstQueued = 2 ** 52;

/** The place of a message: the row number of its session, and its position in the session. */
interface PlaceInSession {
  readonly session: number;
  readonly position: number;
}

const placeFields = ['session', 'position'] as const;

interface FoundRow extends FoundMessage, PlaceInSession {
  /** Null for a long text, which is read when it is needed, and for a message that was deleted meanwhile. */
  readonly content: string | null;
}

interface TextPlace extends PlaceInSession, Pick<FoundRow, 'bytes' | 'content'> {}

const noProject: IndexedProject = { project: 0, messages: 0, unindexed: false, isRare: false };

interface ShownRow {
  readonly place: number;
  readonly message_id: string;
  readonly role: Role;
  readonly created_at: number;
  readonly content: string;
}

/** `indexed`: what the index holds of the project; null for an unknown project. */
export function searchReads(
  ask: Ask,
  rules: TextRules,
  indexed: IndexedProject | null,
  filter: SearchFilter,
): SearchReads {
  const { project, messages: waitingMessages, unindexed: hasUnindexed, isRare } = indexed ?? noProject;
  const { query, isExact } = indexQuery(filter, project, rules);
  const plannedQuery = isRare ? asRare(query) : query;
  const holds = rules.matcher(filter);
  const { sessions } = filter;
  const isWhole = !isNarrowed(sessions) && sessions.updatedBefore === null && sessions.updatedAfter === null;
  const statements = isWhole ? inAll : inSome;
  const conditions = isWhole ? [] : conditionValues(sessions);
  const places = new Map<number, FoundRow>();
  return {
    async hits(maxHits) {
      if (indexed === null) return [];
      // The queue is read first. A message that is indexed meanwhile is then found twice, never missed.
      const waiting = waitingMessages === 0 ? [] : await queuedMessages();
      const isWaiting = new Set(waiting.map(placeName));
      const readUnindexed = hasUnindexed || waitingMessages > 0;
      const [held, ...ofIndex] = await Promise.all([
        holding(waiting),
        readHits(
          maxHits,
          (...page) => ask(statements.hits, [project, ...page, plannedQuery, ...conditions]),
          isExact,
        ),
        readUnindexed
          ? readHits(
              maxHits,
              (...page) => ask(statements.unindexed, [project, ...page, ...conditions]),
              false,
            )
          : [],
      ]);
      const found = [...held, ...ofIndex.flat().filter((row) => !isWaiting.has(placeName(row)))];
      const newest = found.sort((one, other) => other.id - one.id).slice(0, maxHits);
      for (const row of newest) places.set(row.id, row);
      return newest;
    },
    async *texts(messages) {
      for (const step of inSteps(messages)) yield await textsOf(step.map(placeOf));
    },
    async *shown(sessions) {
      const wanted = sessions.map(({ messages }) => {
        const places = messages.map((id) => placeOf({ id }));
        return { places, bytes: places.reduce((sum, place) => sum + place.bytes, 0) };
      });
      for (const step of inSteps(wanted)) yield* await shown(step.map((session) => session.places));
    },
  };

  function placeOf({ id }: Pick<FoundMessage, 'id'>): TextPlace {
    return places.get(id) ?? { session: 0, position: 0, bytes: 0, content: null };
  }

  async function queuedMessages(): Promise<readonly FoundRow[]> {
    const rows = await ask<Omit<FoundRow, 'id' | 'content'>>(statements.queued, [project, ...conditions]);
    return rows
      .toSorted((one, other) => one.created_at - other.created_at)
      .map((row, index) => ({ ...row, id: firstQueued + index, content: null }));
  }

  async function readHits(
    maxHits: number,
    next: (before: number, limit: number) => Promise<readonly FoundRow[]>,
    areExact: boolean,
  ): Promise<readonly FoundRow[]> {
    const matching: FoundRow[] = [];
    const limit = areExact ? maxHits : rowsOfStep;
    for (let before = Number.MAX_SAFE_INTEGER; matching.length < maxHits; ) {
      const rows = await next(before, limit);
      matching.push(...(areExact ? rows : await holding(rows)));
      if (rows.length < limit) break;
      before = rows.at(-1)?.id ?? 0;
    }
    return matching;
  }

  async function holding(rows: readonly FoundRow[]): Promise<readonly FoundRow[]> {
    const matching: FoundRow[] = [];
    for (const step of inSteps(rows)) {
      const texts = await textsOf(step);
      matching.push(...step.filter((_, index) => holds(texts[index] ?? '')));
    }
    return matching;
  }

  async function textsOf(messages: readonly TextPlace[]): Promise<readonly (string | null)[]> {
    const unread = messages.filter(({ content }) => content === null);
    if (unread.length === 0) return messages.map(({ content }) => content);
    const rows = await ask<{ place: number; content: string }>(contents, [
      project,
      ...fieldsOf(unread, placeFields),
    ]);
    const texts = new Map(rows.map(({ place, content }) => [unread[place - 1], content]));
    return messages.map((message) => message.content ?? texts.get(message) ?? null);
  }

  async function shown(sessions: readonly (readonly PlaceInSession[])[]): Promise<(ShownSession | null)[]> {
    const [rows, sessionRows] = await Promise.all([
      ask<ShownRow>(shownMessages, [project, ...fieldsOf(sessions.flat(), placeFields)]),
      ask<SessionRow & { readonly place: number }>(shownSessions, [
        project,
        sessions.map(([first]) => first?.session ?? 0),
      ]),
    ]);
    const found = new Map(sessionRows.map((row) => [row.place, row]));
    let end = 0;
    return sessions.map((messages, index) => {
      const begin = end;
      end += messages.length;
      const session = found.get(index + 1);
      const own = rows.filter(({ place }) => place > begin && place <= end);
      return session === undefined || own.length === 0 ? null : shownSession(session, own);
    });
  }
}

/**
 * The same query for the planner to see that it has few hits. Of a word that is not in its statistics the planner expects one message in
 * 600: in a large store it would start parallel workers and compile the query, which takes a hundred times as long as to read a few hits.
 * Of a word that must occur twice in a query it expects the square of that.
 */
function asRare(query: string): string {
  return `(${query}) & (${query})`;
}

function shownSession(session: SessionRow, rows: readonly ShownRow[]): ShownSession {
  return {
    session: toSession(session),
    messages: rows.map(({ message_id, role, created_at, content }) => ({
      ...{ message_id, role, content, created_at: toTime(created_at) },
    })),
  };
}

function placeName({ session, position }: PlaceInSession): string {
  return `${session}:${position}`;
}

function* inSteps<Sized extends { readonly bytes: number }>(
  messages: readonly Sized[],
): Generator<readonly Sized[]> {
  let begin = 0;
  let bytes = 0;
  for (const [index, message] of messages.entries()) {
    bytes += message.bytes;
    if (bytes < bytesOfStep && index - begin < rowsOfStep - 1 && index < messages.length - 1) continue;
    yield messages.slice(begin, index + 1);
    begin = index + 1;
    bytes = 0;
  }
}
