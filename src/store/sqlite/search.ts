// What a search reads: the hits, the newest first, then texts and sessions by their row numbers. The search rule (store-rules.ts) ranks
// them and makes the page.
import type { Role } from '../../service/session.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { toTime } from '../rows.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { FoundMessage, SearchReads, ShownSession, StoreRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { longHits } from './search-apart.ts';
import { indexQuery } from './search-terms.ts';
import { waitingHits } from './search-waiting.ts';
import { conditionBindings, meetsAll } from './session-conditions.ts';
import { findSession, inProject } from './sessions.ts';

/**
 * How many hits one step reads before the event loop turns. Where few of them are in the sessions that are searched, the steps grow: each
 * step passes over the hits of the ones before again.
 */
const hitsOfStep = 1000;
const mostHitsOfStep = 16_000;
/** How many texts one step tests, if the index cannot look up all terms. */
const textsOfStep = 250;
/** How many bytes of texts one step reads: a few milliseconds' work. Each row counts as `bytesOfRow` more. */
const bytesOfStep = 64 * 1024;
const bytesOfRow = 200;

// CROSS JOIN makes SQLite read the index first. `owner` only narrows the hits; the project of the session decides who may see a message.
function selectHits(index: 'words' | 'pieces', more = ''): string {
  return `
    SELECT message.id, session_id, message.position, message.created_at, octet_length(message.content) AS bytes,
      ${meetsAll} AS meets${more}
    FROM message_${index} CROSS JOIN messages AS message ON message.id = message_${index}.rowid
    CROSS JOIN sessions ON sessions.id = message.session
    WHERE message_${index} MATCH 'owner : "' || (
        SELECT printf('%03d', id) FROM projects WHERE project_id = @projectId
      ) || '"' || CASE @expression WHEN '' THEN '' ELSE ' AND content : (' || @expression || ')' END
      AND message_${index}.rowid < @before AND ${inProject} AND deleted_at IS NULL
    ORDER BY message_${index}.rowid DESC LIMIT @limit`;
}

const ofActive = `FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
  WHERE message.id = @message AND ${inProject} AND deleted_at IS NULL`;

export const searchStatements = {
  words: selectHits('words'),
  pieces: selectHits('pieces'),
  /** The messages that may hold all terms, with their texts, which are then tested. */
  texts: selectHits('pieces', ', message.content'),
} as const;

export const hitStatements = {
  content: `SELECT message.content ${ofActive}`,
  shown: `SELECT message.message_id, message.role, message.created_at, message.content ${ofActive}`,
} as const;

interface ShownRow {
  readonly message_id: string;
  readonly role: Role;
  readonly created_at: number;
  readonly content: string;
}

/** A hit in a session, and whether the session is one of those that are searched. */
interface HitRow extends FoundMessage {
  readonly meets: number;
}

interface FoundText extends HitRow {
  readonly content: string;
}

export interface SearchTools {
  readonly connection: Connection;
  readonly wait: LockWait;
}

export function searchReads(
  { connection, wait }: SearchTools,
  projectId: string,
  filter: SearchFilter,
  rules: Pick<StoreRules, 'matcher'>,
): SearchReads {
  const read = <T>(work: () => T) => whenUnlocked(work, wait);
  const sessions = { projectId, ...conditionBindings(filter.sessions) };
  return {
    async hits(most) {
      // A message may move from the first place to the second or third meanwhile. In this order it is found once or twice, never missed.
      const holds = rules.matcher(filter);
      const { expression, isExact } = indexQuery(filter);
      const found = [
        ...(await waitingHits({ connection, wait }, sessions, filter, holds)),
        ...(await longHits({ connection, wait }, sessions, holds, most)),
        ...(isExact ? await indexHits(expression, most) : await heldHits(expression, most, holds)),
      ];
      const hits = [...new Map(found.map((hit) => [hit.id, hit])).values()];
      return hits.sort((one, other) => other.id - one.id).slice(0, most);
    },
    async *texts(messages) {
      for (const step of inSteps(messages)) yield await read(() => step.map(({ id }) => content(id)));
    },
    async *shown(sessions) {
      for (const { session_id, messages } of sessions) yield await read(() => shown(session_id, messages));
    },
  };

  async function indexHits(expression: string, most: number): Promise<readonly FoundMessage[]> {
    const hits: FoundMessage[] = [];
    // For a term that is the beginning of words, each query reads all those words in the index again.
    let limit = filter.terms.some(({ prefix }) => prefix) ? most : hitsOfStep;
    for (let before = Number.MAX_SAFE_INTEGER; hits.length < most; await yieldToEventLoop()) {
      const bindings = { ...sessions, expression, before, limit };
      const next = await read(() => connection.all<HitRow>(searchStatements[filter.matching], bindings));
      const meeting = next.filter(({ meets }) => meets === 1);
      for (const { meets: _, ...hit } of meeting) hits.push(hit);
      if (next.length < limit) break;
      before = next.at(-1)?.id ?? 0;
      if (meeting.length < limit / 2) limit = Math.min(2 * limit, mostHitsOfStep);
    }
    return hits.slice(0, most);
  }

  async function heldHits(
    expression: string,
    most: number,
    holds: (text: string) => boolean,
  ): Promise<readonly FoundMessage[]> {
    const hits: FoundMessage[] = [];
    for (let before = Number.MAX_SAFE_INTEGER; hits.length < most; await yieldToEventLoop()) {
      const bindings = { ...sessions, expression, before, limit: textsOfStep };
      const next = await read(() => connection.all<FoundText>(searchStatements.texts, bindings));
      for (const { content: text, meets, ...hit } of next) if (meets === 1 && holds(text)) hits.push(hit);
      if (next.length < textsOfStep) break;
      before = next.at(-1)?.id ?? 0;
    }
    return hits.slice(0, most);
  }

  function content(message: number): string | null {
    const row = connection.get<{ content: string }>(hitStatements.content, { projectId, message });
    return row?.content ?? null;
  }

  function shown(sessionId: string, messages: readonly number[]): ShownSession | null {
    const session = findSession(connection, projectId, sessionId);
    if (session === null) return null;
    const rows = messages.flatMap(
      (message) => connection.get<ShownRow>(hitStatements.shown, { projectId, message }) ?? [],
    );
    return { session, messages: rows.map((row) => ({ ...row, created_at: toTime(row.created_at) })) };
  }
}

function* inSteps(messages: readonly FoundMessage[]): Generator<readonly FoundMessage[]> {
  let begin = 0;
  let bytes = 0;
  for (const [index, message] of messages.entries()) {
    bytes += message.bytes + bytesOfRow;
    if (bytes < bytesOfStep && index < messages.length - 1) continue;
    yield messages.slice(begin, index + 1);
    begin = index + 1;
    bytes = 0;
  }
}
