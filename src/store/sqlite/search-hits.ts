// The hits of the search indexes in the sessions that are searched, the newest first. An index gives the numbers of the messages, in steps;
// the messages are read by their numbers. If few messages are searched, the steps skip the hits between these.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { FoundMessage } from '../store-rules.ts';
import type { Connection } from './connection.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';
import { fewMessages } from './search-in-sessions.ts';
import { meetsAll, type SearchedSessions } from './session-conditions.ts';
import { inProject } from './sessions.ts';

/** How many hits of the index one step reads, in about a millisecond. */
const hitsOfStep = 4000;
/**
 * How many hits of the index one step reads for a term that is the beginning of words. They are many, because each step reads all these
 * words in the index again. The first step reads as many hits as are wanted.
 */
const hitsOfPrefixStep = 50_000;
/** How many hits are read at the place of one of few messages: as many as FTS5 reads in the time in which it finds a place. */
const hitsOfPlace = 200;
/** How many messages one step reads. */
const messagesOfStep = 1000;

// `owner` only narrows the hits; the project of the session decides who may see a message. The libraries bind each number as REAL, and FTS5
// ignores a bound that is no integer: it would then read all hits from the first one on.
function selectNumbers(index: 'words' | 'pieces', order: 'older' | 'newer'): string {
  const [bound, direction] =
    order === 'older' ? ['< CAST(@before AS INTEGER)', 'DESC'] : ['>= CAST(@from AS INTEGER)', 'ASC'];
  return `
    SELECT json_group_array(id) AS numbers FROM (
      SELECT message_${index}.rowid AS id FROM message_${index}
      WHERE message_${index} MATCH 'owner : "' || (
          SELECT printf('%03d', id) FROM projects WHERE project_id = @projectId
        ) || '"' || CASE @expression WHEN '' THEN '' ELSE ' AND content : (' || @expression || ')' END
        AND message_${index}.rowid ${bound}
      ORDER BY message_${index}.rowid ${direction} LIMIT @limit)`;
}

export const searchStatements = {
  words: { older: selectNumbers('words', 'older'), newer: selectNumbers('words', 'newer') },
  pieces: { older: selectNumbers('pieces', 'older'), newer: selectNumbers('pieces', 'newer') },
} as const;

/** Those of the messages that are in the sessions that are searched. CROSS JOIN makes SQLite begin with the numbers. */
export const hitsInSessions = `
  SELECT message.id, session_id, message.position, message.created_at, octet_length(message.content) AS bytes
  FROM json_each(@numbers) AS hit CROSS JOIN messages AS message ON message.id = hit.value
  CROSS JOIN sessions ON sessions.id = message.session
  WHERE ${inProject} AND deleted_at IS NULL AND ${meetsAll}`;

/** What is looked up in an index. */
interface Lookup {
  readonly index: 'words' | 'pieces';
  readonly expression: string;
  /** True if a term is the beginning of words. */
  readonly isPrefix: boolean;
}

/** The hits in steps. If they are more than `maxHits`, the consumer need not read to the end. */
export async function* indexedHits(
  { connection, wait }: { readonly connection: Connection; readonly wait: LockWait },
  sessions: SearchedSessions,
  { index, expression, isPrefix }: Lookup,
  maxHits: number,
): AsyncGenerator<readonly FoundMessage[]> {
  const read = <T>(work: () => T) => whenUnlocked(work, wait);
  let limit = isPrefix ? maxHits : hitsOfStep;
  let few: ReturnType<typeof fewMessages> | undefined;
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const numbers = await numbersOf('older', { before, limit });
    let count = 0;
    for await (const step of hitsOf(numbers)) {
      count += step.length;
      yield step;
    }
    const last = numbers.at(-1);
    if (last === undefined || numbers.length < limit) return;
    before = last;
    if (count >= numbers.length / 2) continue;
    if (isPrefix) limit = hitsOfPrefixStep;
    few ??= await read(() => fewMessages(connection, sessions));
    if (few === 'many') continue;
    yield* hitsAmong(few.filter((message) => message < last));
    return;
  }

  /** The hits among few messages, which are given in their order. */
  async function* hitsAmong(messages: readonly number[]): AsyncGenerator<readonly FoundMessage[]> {
    const wanted = new Set(messages);
    const places = { limit: isPrefix ? hitsOfPrefixStep : hitsOfPlace };
    const found: number[] = [];
    for (let next = 0; next < messages.length; ) {
      const numbers = await numbersOf('newer', { from: messages[next] as number, ...places });
      found.push(...numbers.filter((message) => wanted.has(message)));
      const last = numbers.at(-1);
      if (last === undefined || numbers.length < places.limit) break;
      while (next < messages.length && (messages[next] as number) <= last) next += 1;
    }
    yield* hitsOf(found);
  }

  async function numbersOf(
    order: 'older' | 'newer',
    place: { readonly limit: number; readonly before?: number; readonly from?: number },
  ): Promise<readonly number[]> {
    const bindings = { ...sessions, expression, ...place };
    const row = await read(() =>
      connection.get<{ numbers: string }>(searchStatements[index][order], bindings),
    );
    await yieldToEventLoop();
    return JSON.parse(row?.numbers ?? '[]');
  }

  async function* hitsOf(numbers: readonly number[]): AsyncGenerator<readonly FoundMessage[]> {
    for (let begin = 0; begin < numbers.length; begin += messagesOfStep) {
      const step = JSON.stringify(numbers.slice(begin, begin + messagesOfStep));
      yield await read(() => connection.all<FoundMessage>(hitsInSessions, { ...sessions, numbers: step }));
      await yieldToEventLoop();
    }
  }
}
