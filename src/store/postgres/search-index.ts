// Fills the index of words. A message is queued in the statement that stores it, and is indexed later with others, so that no turn waits.
// Several servers share the queue: each takes rows that no other has taken. A search reads the queued messages of its project itself.
import { setTimeout as delay } from 'node:timers/promises';
import type { Call } from '../../service/call.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { KeyHash } from '../session-store.ts';
import type { TextRules } from '../store-rules.ts';
import { fieldsOf } from './columns.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { FrequentWords } from './frequent-words.ts';
import { hashValue, isRefused, refused } from './keys.ts';
import { lexemesOf, wholeWords } from './search-words.ts';
import { statement } from './statement.ts';

const messagesOfLot = 256;

interface Pace {
  readonly messages: number;
  /** After each lot the index waits for this many times as long as the lot took. */
  readonly pauses: number;
}

const atOnce: Pace = { messages: messagesOfLot, pauses: 0 };
/** While turns are stored. A turn that meets a lot then waits for a few milliseconds at most, and most meet none. */
const besideTurns: Pace = { messages: 8, pauses: 9 };
/** While turns are stored, and more messages are queued than `maxBacklog`. A search may have to index all of its project first. */
const behindTurns: Pace = { messages: 64, pauses: 1 };
const maxBacklog = 25_000;
const lotsBetweenCounts = 50;
const maxPauseMs = 250;
/** Turns count as being stored for this long (ms) after the last one. */
const turnsLastMs = 250;
/** A search reads up to this many queued messages of its project itself. */
const maxQueued = 1000;
const maxQueuedBytes = 1024 * 1024;
/** How much text, in UTF-16 units, is divided into words before other work may run: about 2 ms. */
const lengthAtOnce = 16 * 1024;
/** How many bytes of text are read at a time, and at least one message. */
const bytesOfLot = 4 * 1024 * 1024;

// $1: the project, or null for all. $2: how many messages.
const takeLot = statement(`
  SELECT queued.project, queued.session, queued.position, message.created_at, message.content
  FROM (
    SELECT project, session, position, sum(bytes) OVER (ORDER BY project, session, position) - bytes AS before FROM (
      SELECT project, session, position, bytes FROM parley.to_index WHERE $1::integer IS NULL OR project = $1::integer
      ORDER BY project, session, position LIMIT $2 FOR UPDATE SKIP LOCKED
    ) AS free
  ) AS queued
  CROSS JOIN LATERAL (
    SELECT created_at, content FROM parley.messages
    WHERE messages.session = queued.session AND messages.position = queued.position LIMIT 1
  ) AS message
  WHERE queued.before <= ${bytesOfLot}`);
const addLot = statement(`
  WITH input AS (
    SELECT * FROM unnest($1::integer[], $2::bigint[], $3::integer[], $4::bigint[], $5::integer[], $6::text[])
      AS input (project, session, position, created_at, bytes, words)
  ), done AS (
    DELETE FROM parley.to_index USING input
    WHERE to_index.project = input.project AND to_index.session = input.session
      AND to_index.position = input.position
  )
  INSERT INTO parley.search (session, position, created_at, bytes, words)
  SELECT session, position, created_at, bytes, words::tsvector FROM input
  ON CONFLICT (session, position) DO UPDATE SET created_at = excluded.created_at, bytes = excluded.bytes,
    words = excluded.words`);
const indexOfProject = statement(`
  SELECT projects.id AS project, ${isRefused('$2::bytea', 'projects.id')} AS is_refused, queued.messages, queued.bytes,
    EXISTS (SELECT 1 FROM parley.search WHERE words IS NULL) AS unindexed
  FROM parley.projects
  CROSS JOIN LATERAL (
    SELECT count(*) AS messages, coalesce(sum(bytes), 0) AS bytes
    FROM (SELECT bytes FROM parley.to_index WHERE project = projects.id LIMIT ${maxQueued + 1}) AS waiting
  ) AS queued
  WHERE projects.project_id = $1`);

const isBehind = statement(
  `SELECT count(*) > ${maxBacklog} AS is_behind FROM (SELECT FROM parley.to_index LIMIT ${maxBacklog + 1}) AS queued`,
);
const queuedOfProject = statement('SELECT count(*) AS messages FROM parley.to_index WHERE project = $1');

interface QueuedRow {
  readonly session: number;
  readonly position: number;
  readonly project: number;
  readonly created_at: number;
  readonly content: string;
}

/** What the index holds of a project, at the moment of the question. */
export interface IndexedProject {
  /** The row number of the project. */
  readonly project: number;
  /** How many of its messages are not in the index yet. */
  readonly messages: number;
  /** Whether any message of the store has more words than an index takes. */
  readonly unindexed: boolean;
  /** True if one of the words to find is not among the frequent ones. */
  readonly isRare: boolean;
}

interface IndexRow extends Omit<IndexedProject, 'isRare'> {
  readonly bytes: number;
  readonly is_refused: boolean;
}

interface Search {
  readonly projectId: string;
  /** The hash of the key that a call uses; null if the key was checked before. */
  readonly keyHash: KeyHash;
  readonly filter: Pick<SearchFilter, 'matching' | 'terms'>;
}

export class SearchIndex {
  readonly #connections: ConnectionPool;
  readonly #loadRules: () => Promise<TextRules>;
  readonly #frequentWords: FrequentWords;
  /** Stored messages since the index was last filled. */
  #stored = 0;
  /** When (ms) the last message was stored. */
  #storedAt = Number.NEGATIVE_INFINITY;
  #filling: Promise<void> | null = null;

  constructor(connections: ConnectionPool, loadRules: () => Promise<TextRules>) {
    this.#connections = connections;
    this.#loadRules = loadRules;
    this.#frequentWords = new FrequentWords(connections.ask);
  }

  /** Call it with the number of messages that were stored. Starts indexing when enough have gathered. Never rejects. */
  keepUp(messages: number): void {
    this.#stored += messages;
    this.#storedAt = monotonicMs();
    if (this.#stored >= messagesOfLot) this.#fillSoon();
  }

  /** Starts indexing. No call waits for it. */
  #fillSoon(): void {
    if (this.#filling !== null) return;
    this.#stored = 0;
    this.#filling = this.#fill()
      .catch(() => {})
      .finally(() => {
        this.#filling = null;
      });
  }

  /**
   * Resolves when few enough messages of the project are queued for a search to read them. Null for an unknown project, `refused` for a
   * refused key. Rejects with the signal's reason.
   */
  async keepShort(
    { projectId, keyHash, filter }: Search,
    signal: AbortSignal,
    notice?: Call['notice'],
  ): Promise<IndexedProject | typeof refused | null> {
    let of: number | undefined;
    for (let done = 0; ; ) {
      signal.throwIfAborted();
      const [indexed] = await this.#connections.ask<IndexRow>(indexOfProject, [
        projectId,
        hashValue(keyHash),
      ]);
      if (indexed === undefined) return null;
      if (indexed.is_refused) return refused;
      const { project, messages, bytes } = indexed;
      if (messages <= maxQueued && bytes <= maxQueuedBytes) {
        if (of !== undefined) notice?.({ kind: 'indexing', messages: of, of });
        // The next search finds them in the index.
        if (messages > 0) this.#fillSoon();
        return this.#withRarity(indexed, filter);
      }
      of ??= notice === undefined ? 0 : await this.#countQueued(project);
      notice?.({ kind: 'indexing', messages: done, of });
      const lot = await this.#indexLot(project);
      // What is left is being indexed by others.
      if (lot === 0) return this.#withRarity(indexed, filter);
      done += lot;
    }
  }

  async #withRarity(indexed: IndexRow, filter: Search['filter']): Promise<IndexedProject> {
    const words = wholeWords(filter, await this.#loadRules());
    return { ...indexed, isRare: await this.#frequentWords.isAnyRare(indexed.project, words) };
  }

  async idle(): Promise<void> {
    await this.#filling;
  }

  async #fill(): Promise<void> {
    let busyPace = besideTurns;
    for (let lots = 0; ; lots += 1) {
      const start = monotonicMs();
      const isBusy = start - this.#storedAt < turnsLastMs;
      if (isBusy && lots % lotsBetweenCounts === 0)
        busyPace = (await this.#isBehind()) ? behindTurns : besideTurns;
      const { messages, pauses } = isBusy ? busyPace : atOnce;
      if ((await this.#indexLot(null, messages)) === 0) return;
      if (pauses > 0) await delay(Math.min(pauses * (monotonicMs() - start), maxPauseMs));
    }
  }

  async #isBehind(): Promise<boolean> {
    const [row] = await this.#connections.ask<{ is_behind: boolean }>(isBehind, []);
    return row?.is_behind ?? false;
  }

  async #countQueued(project: number): Promise<number> {
    const [row] = await this.#connections.ask<{ messages: number }>(queuedOfProject, [project]);
    return row?.messages ?? 0;
  }

  /** Indexes some queued messages, and returns how many. None if no row was free. */
  #indexLot(project: number | null, maxMessages = messagesOfLot): Promise<number> {
    return this.#connections.transaction(async (ask) => {
      const rows = await ask<QueuedRow>(takeLot, [project, maxMessages]);
      if (rows.length === 0) return 0;
      const words = await this.#wordsOf(rows);
      await ask(addLot, [
        ...fieldsOf(rows, ['project', 'session', 'position', 'created_at']),
        rows.map(({ content }) => Buffer.byteLength(content)),
        words,
      ]);
      return rows.length;
    });
  }

  async #wordsOf(rows: readonly QueuedRow[]): Promise<readonly (string | null)[]> {
    const rules = await this.#loadRules();
    const words: (string | null)[] = [];
    let length = 0;
    for (const { content, project } of rows) {
      words.push(lexemesOf(content, project, rules));
      length += content.length;
      if (length < lengthAtOnce) continue;
      await yieldToEventLoop();
      length = 0;
    }
    return words;
  }
}
