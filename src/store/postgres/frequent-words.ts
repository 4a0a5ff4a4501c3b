// The words that most messages hold, of all projects, about a thousand. They come from PostgreSQL's statistics of the index. There are none
// before the first ANALYZE.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import type { Ask } from './connection-pool.ts';
import { statement } from './statement.ts';

const frequentWords = statement(`
  SELECT most_common_elems::text::text[] AS words FROM pg_catalog.pg_class AS kind
  JOIN pg_catalog.pg_namespace AS space ON space.oid = kind.relnamespace
  JOIN pg_catalog.pg_stats ON schemaname = nspname AND tablename = relname AND attname = 'words'
  WHERE kind.oid = 'parley.search'::regclass`);
/** How long (ms) the words are remembered. PostgreSQL renews its statistics when a tenth of the messages is new. */
const rememberedMs = 60_000;

export class FrequentWords {
  readonly #ask: Ask;
  #words: ReadonlySet<string> = new Set();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** True if at least one of the words is not frequent. `project` is a row number. */
  async isAnyRare(project: number, words: readonly string[]): Promise<boolean> {
    if (words.length === 0) return false;
    const frequent = await this.#read();
    return words.some((word) => !frequent.has(`${project}:${word}`));
  }

  async #read(): Promise<ReadonlySet<string>> {
    const now = monotonicMs();
    if (now - this.#readAt < rememberedMs) return this.#words;
    const [row] = await this.#ask<{ words: readonly string[] }>(frequentWords);
    this.#words = new Set(row?.words ?? []);
    this.#readAt = now;
    return this.#words;
  }
}
