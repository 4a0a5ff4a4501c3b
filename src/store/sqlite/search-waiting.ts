// Searches the messages of a project that are not in the search indexes yet. A search adds them to an index of its own, in memory, with the
// tokenizers of the store's indexes, so it finds the same as in those. It reads no other project's messages and writes nothing to the
// store.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { FoundMessage } from '../store-rules.ts';
import { Connection } from './connection.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';
import { contentBytes, indexingWork, waitingMessages, waitingOfProject } from './search-index.ts';
import { hasPieces, tokenizers } from './search-schema.ts';
import { indexQuery } from './search-terms.ts';
import { meetsAll, type SearchedSessions } from './session-conditions.ts';

/** What one step reads before the event loop turns: a few milliseconds' work. */
const messagesOfStep = 128;
const bytesOfStep = 32 * 1024;

export const waitingStatements = {
  project: 'SELECT id AS project FROM projects WHERE project_id = @projectId',
  next: `
    SELECT message.id, session_id, message.position, message.created_at, ${contentBytes} AS bytes, message.content,
      ${indexingWork} AS work, ${meetsAll} AS meets
    FROM ${waitingMessages} CROSS JOIN sessions ON sessions.id = message.session
    WHERE ${waitingOfProject} AND sessions.project = @project AND deleted_at IS NULL
    ORDER BY search_waiting.message LIMIT ${messagesOfStep}`,
} as const;

const memoryStatements = {
  words: 'SELECT rowid AS id FROM message_words WHERE message_words MATCH @expression',
  pieces: 'SELECT rowid AS id FROM message_pieces WHERE message_pieces MATCH @expression',
  addWords: 'INSERT INTO message_words (rowid, content) VALUES (@id, @content)',
  addPieces: `
    INSERT INTO message_pieces (rowid, content)
    SELECT @id, content || '  ' FROM (SELECT @content AS content) AS message WHERE ${hasPieces('message')}`,
} as const;

const memorySchema = `
  CREATE VIRTUAL TABLE message_words USING fts5 (
    content, content = '', columnsize = 0, tokenize = '${tokenizers.words}'
  );
  CREATE VIRTUAL TABLE message_pieces USING fts5 (
    content, content = '', columnsize = 0, tokenize = '${tokenizers.pieces}'
  );
  BEGIN`;

interface WaitingRow extends FoundMessage {
  readonly content: string;
  readonly work: number | null;
  /** 1 if the session is one of those that are searched. */
  readonly meets: number;
}

/** The waiting messages that hold all terms, in any order. The event loop turns between two steps. */
export async function waitingHits(
  { connection, wait }: { readonly connection: Connection; readonly wait: LockWait },
  sessions: SearchedSessions,
  filter: SearchFilter,
  holds: (text: string) => boolean,
): Promise<readonly FoundMessage[]> {
  const read = <T>(work: () => T) => whenUnlocked(work, wait);
  const row = await read(() => connection.get<{ project: number }>(waitingStatements.project, sessions));
  const project = row?.project ?? 0;
  let next = await read(() => nextRows(connection, { ...sessions, project, after: 0 }));
  if (next.length === 0) return [];
  const memory = new Connection(connection.driver, connection.driver.openInMemory(), ':memory:');
  try {
    memory.execute(memorySchema);
    const hits: FoundMessage[] = [];
    const indexed = new Map<number, FoundMessage>();
    const { expression, isExact } = indexQuery(filter);
    for (; next.length > 0; await yieldToEventLoop()) {
      for (const { content, work, meets, ...message } of next) {
        if (meets !== 1) continue;
        // A message that is too long for the store's indexes is tested by its text (search-unindexed.ts).
        if (work === null && holds(content)) hits.push(message);
        if (work === null) continue;
        const { addWords, addPieces } = memoryStatements;
        const add = filter.matching === 'words' ? addWords : addPieces;
        const { changes } = memory.run(add, { id: message.id, content });
        indexed.set(message.id, message);
        // If the expression leaves out a term, the texts in the index are tested, as for the index of the store.
        if (!isExact && changes > 0 && holds(content)) hits.push(message);
      }
      const after = next.at(-1)?.id ?? 0;
      next = await read(() => nextRows(connection, { ...sessions, project, after }));
    }
    if (!isExact) return hits;
    const found = memory.all<{ id: number }>(memoryStatements[filter.matching], { expression });
    return [...hits, ...found.flatMap(({ id }) => indexed.get(id) ?? [])];
  } finally {
    memory.close();
  }
}

/** The rows of the next step: at least one if any is left. */
function nextRows(
  connection: Connection,
  place: SearchedSessions & { readonly project: number; readonly after: number },
): readonly WaitingRow[] {
  let bytesLeft = bytesOfStep;
  return connection.allWhile<WaitingRow>(waitingStatements.next, place, ({ bytes }) => {
    const isWanted = bytesLeft > 0;
    bytesLeft -= bytes;
    return isWanted;
  });
}
