// What a search reads: the hits, the newest first, then texts and sessions by their row numbers. The search rule (store-rules.ts) ranks
// them and makes the page.
import { toTime } from '../../service/iso-time.ts';
import type { Role } from '../../service/session.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { FoundMessage, SearchReads, ShownSession, TextRules } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { indexedHits } from './search-hits.ts';
import { hasPrefix, type IndexQuery, indexQuery } from './search-terms.ts';
import { longHits } from './search-unindexed.ts';
import { waitingHits } from './search-waiting.ts';
import { conditionBindings } from './session-conditions.ts';
import { findSession, inProject } from './sessions.ts';

/** How many bytes of texts one step reads: a few milliseconds' work. Each row counts as `bytesOfRow` more. */
const bytesOfStep = 64 * 1024;
const bytesOfRow = 200;

const ofActive = `FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
  WHERE message.id = @message AND ${inProject} AND deleted_at IS NULL`;

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

export interface SearchTools {
  readonly connection: Connection;
  readonly wait: LockWait;
}

export function searchReads(
  { connection, wait }: SearchTools,
  projectId: string,
  filter: SearchFilter,
  rules: Pick<TextRules, 'matcher'>,
): SearchReads {
  const read = <T>(work: () => T) => whenUnlocked(work, wait);
  const sessions = { projectId, ...conditionBindings(filter.sessions) };
  return {
    async hits(limit) {
      // A message may move from the first place to the second or third meanwhile. In this order it is found once or twice, never missed.
      const holds = rules.matcher(filter);
      const found = [
        ...(await waitingHits({ connection, wait }, sessions, filter, holds)),
        ...(await longHits({ connection, wait }, sessions, holds, limit)),
        ...(await indexHits(indexQuery(filter), limit, holds)),
      ];
      const hits = [...new Map(found.map((hit) => [hit.id, hit])).values()];
      return hits.sort((one, other) => other.id - one.id).slice(0, limit);
    },
    async *texts(messages) {
      for (const step of inSteps(messages)) yield await read(() => step.map(({ id }) => content(id)));
    },
    async *shown(sessions) {
      for (const { session_id, messages } of sessions) yield await read(() => shown(session_id, messages));
    },
  };

  /** The newest hits of the index, at least `limit` of them if there are so many. The event loop turns after each read. */
  async function indexHits(
    query: IndexQuery,
    limit: number,
    holds: (text: string) => boolean,
  ): Promise<readonly FoundMessage[]> {
    const hits: FoundMessage[] = [];
    const found = { index: filter.matching, expression: query.expression, isPrefix: hasPrefix(filter) };
    for await (const step of indexedHits({ connection, wait }, sessions, found, limit)) {
      hits.push(...(query.isExact ? step : await holding(step, holds)));
      if (hits.length >= limit) break;
    }
    return hits;
  }

  async function holding(
    messages: readonly FoundMessage[],
    holds: (text: string) => boolean,
  ): Promise<readonly FoundMessage[]> {
    const matching: FoundMessage[] = [];
    for (const step of inSteps(messages)) {
      const texts = await read(() => step.map(({ id }) => content(id)));
      matching.push(...step.filter((_, index) => holds(texts[index] ?? '')));
      await yieldToEventLoop();
    }
    return matching;
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
