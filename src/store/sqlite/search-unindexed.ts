// The long messages, which are in no index: each search reads those of its project. A search in 1 MiB of text takes a few milliseconds. To
// index that text may take seconds, in which no other write could run.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { FoundMessage } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';
import { meetsAll, type SearchedSessions } from './session-conditions.ts';
import { inProject } from './sessions.ts';

const apartStatements = {
  next: `
    SELECT message.id, session_id, message.position, message.created_at, octet_length(message.content) AS bytes,
      CASE WHEN ${meetsAll} THEN message.content END AS content
    FROM search_apart CROSS JOIN messages AS message ON message.id = search_apart.message
    CROSS JOIN sessions ON sessions.id = message.session
    WHERE search_apart.${inProject}
      AND search_apart.message < @before AND sessions.project = search_apart.project AND deleted_at IS NULL
    ORDER BY search_apart.message DESC LIMIT 1`,
} as const;

interface LongRow extends FoundMessage {
  /** Null if the session is not one of those that are searched. */
  readonly content: string | null;
}

/** The newest long messages that hold all terms, at most `limit`. The event loop turns after each message. */
export async function longHits(
  { connection, wait }: { readonly connection: Connection; readonly wait: LockWait },
  sessions: SearchedSessions,
  holds: (text: string) => boolean,
  limit: number,
): Promise<readonly FoundMessage[]> {
  const hits: FoundMessage[] = [];
  for (let before = Number.MAX_SAFE_INTEGER; hits.length < limit; ) {
    const bindings = { ...sessions, before };
    const row = await whenUnlocked(() => connection.get<LongRow>(apartStatements.next, bindings), wait);
    if (row === undefined) break;
    const { content, ...hit } = row;
    if (content !== null && holds(content)) hits.push(hit);
    before = row.id;
    await yieldToEventLoop();
  }
  return hits;
}
