// Fills the search indexes. A turn does not wait for that, because many messages at once cost far less than one by one. New messages wait
// in `search_waiting`. A search reads the waiting messages of its project from there (search-waiting.ts).
import type { Call } from '../../service/call.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { Connection } from './connection.ts';
import { type LockWait, whenUnlocked } from './lock-wait.ts';
import { isBacklogLong } from './search-backlog.ts';
import { hasPieces, longestIndexed, longestInPieces } from './search-schema.ts';
import { inProject } from './sessions.ts';

/** The most messages of one transaction: about 20 ms of work, in which other writers and this event loop wait. */
const maxMessages = 256;
/** The most work of one transaction, in bytes of text with spaces. */
const maxWork = longestIndexed;
/** How much a byte of text without spaces counts, because it makes more entries. */
const workInPieces = longestIndexed / longestInPieces;
/** The most transactions after one write of a process that may end soon, so that it need not index a whole store of older messages. */
const stepsOfWrite = 4;
/** A search reads up to this many waiting messages of its project itself, in about 40 ms. If more wait, they are indexed first. */
const maxRead = { messages: 1024, bytes: 256 * 1024 };
/** How many waiting messages a search reads itself, in some seconds, if there is no room on the disk to index them. */
const maxReadWithoutRoom = { messages: 64 * 1024, bytes: 16 * 1024 * 1024 };

/** The waiting messages. */
export const waitingMessages =
  'search_waiting CROSS JOIN messages AS message ON message.id = search_waiting.message';
/** The condition for the waiting messages of one project after the message number `@after`. */
export const waitingOfProject = 'search_waiting.project = @project AND search_waiting.message > @after';
export const contentBytes = 'octet_length(message.content)';
/**
 * The work to index a message; NULL for a message that is too long for an index (search-unindexed.ts). A text with as many bytes as
 * characters is ASCII and holds no script without spaces. This comparison is far faster than the search for such a script.
 */
export const indexingWork = `CASE WHEN ${contentBytes} > ${longestIndexed} THEN NULL
  WHEN ${contentBytes} = length(message.content) OR NOT ${hasPieces('message')} THEN ${contentBytes}
  WHEN ${contentBytes} <= ${longestInPieces} THEN ${contentBytes} * ${workInPieces} END`;
const ofProject = `search_waiting.${inProject}`;
const lot = `
  FROM ${waitingMessages}
  WHERE search_waiting.project = @project AND search_waiting.message <= @to AND NOT EXISTS (
    SELECT 1 FROM search_apart WHERE project = @project AND search_apart.message = search_waiting.message)`;

export const indexStatements = {
  backlog: `
    SELECT count(*) AS messages, coalesce(sum(bytes), 0) AS bytes FROM (
      SELECT ${contentBytes} AS bytes FROM ${waitingMessages} WHERE ${ofProject} LIMIT @limit + 1)`,
  newest: `SELECT max(message) AS message FROM search_waiting WHERE ${ofProject}`,
  waiting: `SELECT count(*) AS messages FROM search_waiting WHERE ${ofProject}`,
  project: 'SELECT id FROM projects WHERE project_id = @projectId',
  nextProject: `SELECT coalesce(
    (SELECT min(project) FROM search_waiting WHERE project > @after), (SELECT min(project) FROM search_waiting)) AS id`,
  next: `
    SELECT message.id, ${indexingWork} AS work, ${contentBytes} AS bytes FROM ${waitingMessages}
    WHERE ${waitingOfProject}
    ORDER BY search_waiting.message LIMIT ${maxMessages}`,
  setApart: 'INSERT INTO search_apart (project, message) VALUES (@project, @message)',
  words: `
    INSERT INTO message_words (rowid, content, owner)
    SELECT message.id, message.content, @owner ${lot}`,
  pieces: `
    INSERT INTO message_pieces (rowid, content, owner)
    SELECT message.id, message.content || '  ', @owner ${lot} AND ${hasPieces('message')}`,
  removeWaiting: 'DELETE FROM search_waiting WHERE project = @project AND message <= @to',
} as const;

interface NextRow {
  readonly id: number;
  readonly work: number | null;
  readonly bytes: number;
}

/**
 * Whose messages are indexed: those of one project, or those of the next project with waiting messages after the project number
 * `after`.
 */
export type Backlog = { readonly projectId: string } | { readonly after: number };

/** The number of the project whose messages were indexed, the number of the last of these messages, and how many they are. */
export interface Indexed {
  readonly project: number;
  readonly message: number;
  readonly messages: number;
}

interface SearchIndexOptions {
  /** {@link indexStep} in a transaction of the store's one writer. */
  readonly step: (backlog: Backlog) => Promise<Indexed | null>;
  /** True for a process that still runs after the call, such as a server. */
  readonly isServed: boolean;
  readonly wait: LockWait;
}

export class SearchIndex {
  readonly #connection: Connection;
  readonly #options: SearchIndexOptions;
  #isKeepingUp = false;
  /** The number of the project whose messages were indexed last. The projects take turns. */
  #last = 0;

  constructor(connection: Connection, options: SearchIndexOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * Resolves when few enough messages of the project wait for a search to read them. Rejects with the signal's reason; the messages that
   * are indexed by then stay indexed.
   */
  async catchUp(projectId: string, signal: AbortSignal, notice?: Call['notice']): Promise<void> {
    signal.throwIfAborted();
    const newest = await this.#read(() => endOfBacklog(this.#connection, projectId));
    if (newest === 0) return;
    const of = notice === undefined ? 0 : await this.#read(() => countWaiting(this.#connection, projectId));
    for (let [reached, messages] = [0, 0]; reached < newest; ) {
      signal.throwIfAborted();
      notice?.({ kind: 'indexing', messages, of });
      const indexed = await this.#options.step({ projectId });
      reached = indexed?.message ?? newest;
      messages += indexed?.messages ?? 0;
    }
    notice?.({ kind: 'indexing', messages: of, of });
  }

  /** True if a search can read the waiting messages of the project itself, though they are more than usual. */
  async isReadable(projectId: string): Promise<boolean> {
    return this.#read(() => isAtMost(maxReadWithoutRoom, this.#connection, projectId));
  }

  /** Starts indexing if enough messages wait. Call it after messages were written. The next call repeats what fails here. */
  keepUp(): void {
    if (this.#isKeepingUp) return;
    this.#isKeepingUp = true;
    this.#steps()
      .catch(() => {})
      .finally(() => {
        this.#isKeepingUp = false;
      });
  }

  #read<T>(query: () => T): T | Promise<T> {
    return whenUnlocked(query, this.#options.wait);
  }

  async #steps(): Promise<void> {
    const { step, isServed } = this.#options;
    const maxSteps = isServed ? Number.POSITIVE_INFINITY : stepsOfWrite;
    for (let count = 0; count < maxSteps; count += 1) {
      if (!isBacklogLong(this.#connection)) return;
      const start = monotonicMs();
      const indexed = await step({ after: this.#last });
      this.#last = indexed?.project ?? 0;
      const { setTimeout: delay } = await import('node:timers/promises');
      // The pause leaves half of the time to other work.
      await delay(monotonicMs() - start);
    }
  }
}

/** The number of the newest waiting message of a project; 0 if few enough messages wait for a search to read them. */
function endOfBacklog(connection: Connection, projectId: string): number {
  if (isAtMost(maxRead, connection, projectId)) return 0;
  return connection.get<{ message: number | null }>(indexStatements.newest, { projectId })?.message ?? 0;
}

function countWaiting(connection: Connection, projectId: string): number {
  return connection.get<{ messages: number }>(indexStatements.waiting, { projectId })?.messages ?? 0;
}

/** True if no more messages of the project wait, and no more bytes of them. */
function isAtMost(limits: typeof maxRead, connection: Connection, projectId: string): boolean {
  const bindings = { projectId, limit: limits.messages };
  const backlog = connection.get<typeof maxRead>(indexStatements.backlog, bindings) as typeof maxRead;
  return backlog.messages <= limits.messages && backlog.bytes <= limits.bytes;
}

/** Indexes some waiting messages. Call it inside a transaction. Null if no message waits. */
export function indexStep(connection: Connection, backlog: Backlog): Indexed | null {
  const statement = 'after' in backlog ? indexStatements.nextProject : indexStatements.project;
  const project = connection.get<{ id: number | null }>(statement, backlog)?.id ?? null;
  if (project === null) return null;
  let left = maxWork;
  const next = connection.allWhile<NextRow>(indexStatements.next, { project, after: 0 }, ({ work }) => {
    left -= work ?? 0;
    return left >= 0;
  });
  const to = next.at(-1)?.id;
  if (to === undefined) return null;
  for (const { id: message, work } of next) {
    if (work === null) connection.run(indexStatements.setApart, { project, message });
  }
  const bindings = { project, to, owner: String(project).padStart(3, '0') };
  connection.run(indexStatements.words, bindings);
  // The work of a message without such a script is its bytes. The search for the script costs more than the rest of a step.
  if (next.some(({ work, bytes }) => work !== null && work !== bytes))
    connection.run(indexStatements.pieces, bindings);
  connection.run(indexStatements.removeWaiting, { project, to });
  return { project, message: to, messages: next.length };
}
