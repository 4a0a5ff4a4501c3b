// Fills the search indexes. A turn does not wait for that: many messages at once cost far less than one by one, and most are never searched
// for. New messages wait in `search_waiting`; a search reads those of its project where they stand (search-waiting.ts).
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { Connection } from './connection.ts';
import { hasPieces, longestIndexed, longestInPieces } from './search-schema.ts';

/** When so many messages wait, they are taken in after the next write. */
const enough = 256;
/** One transaction keeps other writers waiting, and this event loop too: some 20 ms of work. */
const mostMessages = 256;
/** In bytes of a text of words. A text that is written without spaces has so many times the entries. */
const mostWork = longestIndexed;
const workInPieces = longestIndexed / longestInPieces;
/** After one write of a process that may end soon: it should not have to index a whole store of older messages before. */
const stepsOfWrite = 4;
/** A search reads so many waiting messages of its project itself, in some 40 ms. Where more wait, they are taken in first. */
const mostRead = { messages: 1024, bytes: 256 * 1024 };

/** The messages that wait, from the oldest on. */
export const waiting = 'search_waiting CROSS JOIN messages AS message ON message.id = search_waiting.message';
/** Those of a project, after one of them. */
export const waitingAfter = 'search_waiting.project = @project AND search_waiting.message > @after';
export const bytes = 'octet_length(message.content)';
/**
 * How much work it is to index one of them; NULL for one that is kept apart. A text with no more bytes than characters holds no script
 * without spaces, and to look for one takes far longer than to compare the two.
 */
export const work = `CASE WHEN ${bytes} > ${longestIndexed} THEN NULL
  WHEN ${bytes} = length(message.content) OR NOT ${hasPieces('message')} THEN ${bytes}
  WHEN ${bytes} <= ${longestInPieces} THEN ${bytes} * ${workInPieces} END`;
const ofProject = 'search_waiting.project = (SELECT id FROM projects WHERE project_id = @projectId)';
const lot = `
  FROM ${waiting}
  WHERE search_waiting.project = @project AND search_waiting.message <= @to AND NOT EXISTS (
    SELECT 1 FROM search_apart WHERE project = @project AND search_apart.message = search_waiting.message)`;

export const indexStatements = {
  isEnough: `SELECT 1 FROM search_waiting LIMIT 1 OFFSET ${enough - 1}`,
  backlog: `
    SELECT count(*) AS messages, coalesce(sum(bytes), 0) AS bytes FROM (
      SELECT ${bytes} AS bytes FROM ${waiting} WHERE ${ofProject} LIMIT ${mostRead.messages + 1})`,
  newest: `SELECT max(message) AS message FROM search_waiting WHERE ${ofProject}`,
  project: 'SELECT id FROM projects WHERE project_id = @projectId',
  nextProject: `SELECT coalesce(
    (SELECT min(project) FROM search_waiting WHERE project > @behind), (SELECT min(project) FROM search_waiting)) AS id`,
  next: `
    SELECT message.id, ${work} AS work FROM ${waiting} WHERE ${waitingAfter}
    ORDER BY search_waiting.message LIMIT ${mostMessages}`,
  apart: 'INSERT INTO search_apart (project, message) VALUES (@project, @message)',
  words: `
    INSERT INTO message_words (rowid, content, owner)
    SELECT message.id, message.content, @owner ${lot}`,
  pieces: `
    INSERT INTO message_pieces (rowid, content, owner)
    SELECT message.id, message.content || '  ', @owner ${lot} AND ${hasPieces('message')}`,
  taken: 'DELETE FROM search_waiting WHERE project = @project AND message <= @to',
} as const;

interface NextRow {
  readonly id: number;
  readonly work: number | null;
}

/** Whose messages are taken in: those of a project, or of the next project with such messages behind one of this number. */
export type Backlog = { readonly projectId: string } | { readonly behind: number };

/** The project whose messages were taken in, and the last of them. */
export interface Indexed {
  readonly project: number;
  readonly message: number;
}

interface SearchIndexOptions {
  /** {@link indexStep} in a transaction of the store's one writer. */
  readonly step: (backlog: Backlog) => Promise<Indexed | null>;
  /** Whether this process goes on after a call. */
  readonly isServed: boolean;
}

export class SearchIndex {
  readonly #connection: Connection;
  readonly #options: SearchIndexOptions;
  #isKeepingUp = false;
  /** The project that was served last: each gets its turn. */
  #last = 0;

  constructor(connection: Connection, options: SearchIndexOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * Resolves when so few messages of the project wait that a search can read them. `read` asks when no lock is in the way. What was taken in
   * stays so when the signal fires.
   */
  async catchUp(
    projectId: string,
    read: <T>(ask: () => T) => T | Promise<T>,
    signal: AbortSignal,
  ): Promise<void> {
    signal.throwIfAborted();
    const newest = await read(() => endOfBacklog(this.#connection, projectId));
    for (let reached = 0; reached < newest; ) {
      signal.throwIfAborted();
      const indexed = await this.#options.step({ projectId });
      reached = indexed?.message ?? newest;
    }
  }

  /** To be called after messages were written. Nobody waits for it: what it cannot do now, the next call does. */
  keepUp(): void {
    if (this.#isKeepingUp) return;
    this.#isKeepingUp = true;
    this.#steps()
      .catch(() => {})
      .finally(() => {
        this.#isKeepingUp = false;
      });
  }

  async #steps(): Promise<void> {
    const { step, isServed } = this.#options;
    const mostSteps = isServed ? Number.POSITIVE_INFINITY : stepsOfWrite;
    for (let count = 0; count < mostSteps; count += 1) {
      if (this.#connection.get(indexStatements.isEnough) === undefined) return;
      const start = monotonicMs();
      const indexed = await step({ behind: this.#last });
      this.#last = indexed?.project ?? 0;
      const { setTimeout: delay } = await import('node:timers/promises');
      // Half of the time belongs to others.
      await delay(monotonicMs() - start);
    }
  }
}

/** The newest waiting message of a project; 0 where so few wait that a search can read them. */
function endOfBacklog(connection: Connection, projectId: string): number {
  const backlog = connection.get<typeof mostRead>(indexStatements.backlog, { projectId }) as typeof mostRead;
  if (backlog.messages <= mostRead.messages && backlog.bytes <= mostRead.bytes) return 0;
  return connection.get<{ message: number | null }>(indexStatements.newest, { projectId })?.message ?? 0;
}

/** Takes some messages in, inside a transaction. Null where none waits. */
export function indexStep(connection: Connection, backlog: Backlog): Indexed | null {
  const statement = 'behind' in backlog ? indexStatements.nextProject : indexStatements.project;
  const project = connection.get<{ id: number | null }>(statement, backlog)?.id ?? null;
  if (project === null) return null;
  let left = mostWork;
  const next = connection.allWhile<NextRow>(indexStatements.next, { project, after: 0 }, ({ work }) => {
    left -= work ?? 0;
    return left >= 0;
  });
  const to = next.at(-1)?.id;
  if (to === undefined) return null;
  for (const { id: message, work } of next) {
    if (work === null) connection.run(indexStatements.apart, { project, message });
  }
  const bindings = { project, to, owner: String(project).padStart(3, '0') };
  connection.run(indexStatements.words, bindings);
  connection.run(indexStatements.pieces, bindings);
  connection.run(indexStatements.taken, { project, to });
  return { project, message: to };
}
