// Fills the index of words: a message is queued in the statement that keeps it, and indexed later, in lots, so that no turn waits for it.
// Several servers share the queue: each takes rows that no other has taken. A search first waits until the queue is empty.
import { setTimeout as delay } from 'node:timers/promises';
import type { TextRules } from '../store-rules.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { lexemesOf } from './search-words.ts';
import { statement } from './statement.ts';

const messagesOfLot = 256;
/** How long a search waits for rows that others are indexing before it looks again. */
const pauseMs = 10;
/** So much text is read at a time; at least one message. */
const bytesOfLot = 4 * 1024 * 1024;

const takeLot = statement(`
  SELECT queued.session, queued.position, session.project, message.content
  FROM (
    SELECT session, position, sum(bytes) OVER (ORDER BY session, position) - bytes AS before FROM (
      SELECT session, position, bytes FROM parley.to_index ORDER BY session, position
      LIMIT ${messagesOfLot} FOR UPDATE SKIP LOCKED
    ) AS free
  ) AS queued
  JOIN parley.sessions AS session ON session.id = queued.session
  JOIN parley.messages AS message ON message.session = queued.session AND message.position = queued.position
  WHERE queued.before <= ${bytesOfLot}`);
const addLot = statement(`
  WITH input AS (
    SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[]) AS input (session, position, words)
  ), done AS (
    DELETE FROM parley.to_index USING input
    WHERE to_index.session = input.session AND to_index.position = input.position
  )
  INSERT INTO parley.search (session, position, words) SELECT session, position, words::tsvector FROM input
  ON CONFLICT (session, position) DO UPDATE SET words = excluded.words`);
const anyQueued = statement('SELECT 1 FROM parley.to_index LIMIT 1');

interface QueuedRow {
  readonly session: number;
  readonly position: number;
  readonly project: number;
  readonly content: string;
}

export class SearchIndex {
  readonly #connections: ConnectionPool;
  readonly #rules: TextRules;
  #kept = 0;
  #filling: Promise<void> | null = null;

  constructor(connections: ConnectionPool, rules: TextRules) {
    this.#connections = connections;
    this.#rules = rules;
  }

  /** Messages were kept: when enough have come together, they are indexed. Never rejects. */
  keepUp(messages: number): void {
    this.#kept += messages;
    if (this.#kept < messagesOfLot || this.#filling !== null) return;
    this.#kept = 0;
    this.#filling = this.#fill()
      .catch(() => {})
      .finally(() => {
        this.#filling = null;
      });
  }

  /** Resolves when every message that was kept before this call is indexed. Rejects with the signal's reason. */
  async catchUp(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      if ((await this.#connections.ask(anyQueued)).length === 0) return;
      // What is left is being indexed by others.
      if (!(await this.#indexLot())) await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async idle(): Promise<void> {
    await this.#filling;
  }

  async #fill(): Promise<void> {
    while (await this.#indexLot());
  }

  /** False where no row was free to be taken. */
  #indexLot(): Promise<boolean> {
    return this.#connections.transaction(async (ask) => {
      const rows = await ask<QueuedRow>(takeLot);
      if (rows.length === 0) return false;
      await ask(addLot, [
        rows.map(({ session }) => session),
        rows.map(({ position }) => position),
        rows.map(({ content, project }) => lexemesOf(content, project, this.#rules)),
      ]);
      return true;
    });
  }
}
