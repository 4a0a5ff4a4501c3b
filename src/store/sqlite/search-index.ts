// Brings the search indexes forward. A turn does not wait for them: many messages at once cost far less than one by one, and
// most are never searched for. So a search first adds what it lacks, and in between it is added when enough has come together. In a served
// store a search looks through what it lacks (search-pending.ts), and processes add it meanwhile.
import type { Connection } from './connection.ts';
import { hasPieces, longestIndexed, longestInPieces } from './search-schema.ts';

/** When so many messages are not in the indexes yet, they are taken in after the next write. */
const enough = 256;
/** One transaction keeps other writers, and this event loop, waiting: some 20 ms of work. */
const mostMessages = 256;
/** In bytes of a text of words. One that is written without spaces has so many times the entries. */
const mostWork = longestIndexed;
const workInPieces = longestIndexed / longestInPieces;
/** After one write: no process should have to index a whole store of older messages before it may end. */
const fewSteps = 4;

export const indexStatements = {
  progress: 'SELECT through, (SELECT coalesce(max(id), 0) FROM messages) AS newest FROM search_progress',
  // No work, where it is kept apart. A text with no more bytes than characters is in no such script; to look for one takes far longer.
  next: `
    SELECT id, CASE WHEN bytes > ${longestIndexed} THEN NULL
      WHEN bytes = length(content) OR NOT ${hasPieces('message')} THEN bytes
      WHEN bytes <= ${longestInPieces} THEN bytes * ${workInPieces} END AS work
    FROM (SELECT id, content, octet_length(content) AS bytes FROM messages) AS message
    WHERE id > (SELECT through FROM search_progress) ORDER BY id LIMIT ${mostMessages}`,
  apart: `
    INSERT INTO search_apart (project, message)
    SELECT coalesce(imports.project, sessions.project), message.id
    FROM messages AS message CROSS JOIN sessions ON sessions.id = message.session
      LEFT JOIN imports ON imports.session = sessions.id
    WHERE message.id = @message`,
  advance: 'UPDATE search_progress SET through = @to',
  words: `
    INSERT INTO message_words (rowid, content, owner)
    SELECT id, content, owner FROM message_words_source WHERE id > @from`,
  pieces: `
    INSERT INTO message_pieces (rowid, content, owner)
    SELECT id, content, owner FROM message_pieces_source WHERE id > @from`,
} as const;

interface NextRow {
  readonly id: number;
  readonly work: number | null;
}

interface Progress {
  /** The last message that is in the indexes; 0 for none. */
  readonly through: number;
  /** The last message that there is. */
  readonly newest: number;
}

export class SearchIndex {
  readonly #connection: Connection;
  /** {@link indexStep} in a transaction of the store's one writer. */
  readonly #step: () => Promise<number | null>;
  /** That follow one call of `keepUp`. */
  readonly #mostSteps: number;
  #isKeepingUp = false;

  constructor(
    connection: Connection,
    step: () => Promise<number | null>,
    follow: 'a few steps' | 'until all is in',
  ) {
    this.#connection = connection;
    this.#step = step;
    this.#mostSteps = follow === 'a few steps' ? fewSteps : Number.POSITIVE_INFINITY;
  }

  /** Resolves when every message that is there now is in the indexes. `read` asks when no lock is in the way. What was added stays. */
  async catchUp(read: <T>(ask: () => T) => T | Promise<T>, signal: AbortSignal): Promise<void> {
    const { through, newest } = await read(() => progressOf(this.#connection));
    let reached: number | null = through;
    while (reached !== null && reached < newest) {
      signal.throwIfAborted();
      reached = await this.#step();
    }
  }

  /**
   * To be called after messages were written. Nobody waits for it: what it cannot do now, the next one does. It does nothing where fewer than
   * `least` are not in the indexes.
   */
  keepUp(least = enough): void {
    if (this.#isKeepingUp) return;
    this.#isKeepingUp = true;
    this.#steps(least)
      .catch(() => {})
      .finally(() => {
        this.#isKeepingUp = false;
      });
  }

  async #steps(least: number): Promise<void> {
    const { newest: goal } = progressOf(this.#connection);
    for (let step = 0; step < this.#mostSteps; step += 1) {
      const { through, newest } = progressOf(this.#connection);
      // What has come since waits until it is enough.
      if (newest - through < (through < goal ? least : enough)) return;
      await this.#step();
    }
  }
}

function progressOf(connection: Connection): Progress {
  return connection.get<Progress>(indexStatements.progress) as Progress;
}

/** Takes some messages in. How far it came, or null where nothing was left. */
export function indexStep(connection: Connection): number | null {
  const { through: from } = progressOf(connection);
  let left = mostWork;
  const next = connection.allWhile<NextRow>(indexStatements.next, {}, ({ work }) => {
    left -= work ?? 0;
    return left >= 0;
  });
  const to = next.at(-1)?.id;
  if (to === undefined) return null;
  connection.run(indexStatements.advance, { to });
  for (const { id: message, work } of next) {
    if (work === null) connection.run(indexStatements.apart, { message });
  }
  connection.run(indexStatements.words, { from });
  connection.run(indexStatements.pieces, { from });
  return to;
}
