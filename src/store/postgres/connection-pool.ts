// A fixed number of connections to one database, opened when they are needed. A call waits for a free connection. Groups of calls grow
// meanwhile, so a busy pool makes larger groups and no errors. A call whose connection is lost is sent again until `patienceMs` is over.
// Therefore every statement of this store may be sent twice.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, QueryConfig } from 'pg';
import { ParleyError } from '../../service/errors.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { isConnectionLost, isPassing, isPrepareRefused, storeError } from './postgres-errors.ts';
import { inSchema, type NamedStatement, type Statement } from './statement.ts';

export interface PoolOptions {
  /** Opens and checks one connection; rejects with a ParleyError for a database that must not be used. */
  readonly connect: () => Promise<Client>;
  /** The store without user and password, for errors. */
  readonly name: string;
  readonly schema: string;
  readonly size: number;
  /** How long (ms) a call is repeated while the database does not answer. */
  readonly patienceMs: number;
  /** True: statements are prepared. After the first refusal by a pooler none is prepared any more. */
  readonly prepare: boolean;
  /** A random number from 0 to 1, which varies the pauses between attempts. */
  readonly random: () => number;
}

/**
 * Sends a statement and returns its rows. `again` is sent instead after a lost connection, when it is unknown whether the first statement
 * was executed; by default the same statement is sent.
 */
export type Ask = <Row>(
  statement: Statement,
  values?: readonly unknown[],
  again?: Statement,
) => Promise<readonly Row[]>;

const longestPauseMs = 250;
/** The time-out of a statement over whole tables, in ms. */
const longestMs = 6 * 60 * 60 * 1000;

export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #named = new Map<Statement, NamedStatement>();
  readonly #free: Client[] = [];
  readonly #waiting: ((client: Client | null) => void)[] = [];
  #open = 0;
  #prepares: boolean;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#prepares = options.prepare;
  }

  /** How long (ms) a call waits for a condition that passes, such as a lost connection or a lock. */
  get patienceMs(): number {
    return this.#options.patienceMs;
  }

  /** Rejects with PostgreSQL's error, or with a `ParleyError` if no connection can be opened. */
  readonly ask: Ask = <Row>(one: Statement, values: readonly unknown[] = [], again = one) =>
    this.#persist((client, wasLost) =>
      this.#send<Row>(client, wasLost ? again : one, values, this.#prepares),
    );

  /** Sends a statement that reads or rewrites whole tables, outside any transaction. It is sent only once. */
  async askOnce<Row>(one: Statement): Promise<readonly Row[]> {
    const { text } = this.#inPlace(one);
    return this.#once(async (client) => {
      const query: QueryConfig & { query_timeout: number } = { text, query_timeout: longestMs };
      return (await client.query(query)).rows as Row[];
    });
  }

  /** Runs `work` in one transaction. After a lost connection `work` runs again from the beginning. */
  transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#persist(async (client) => {
      const ask: Ask = (one, values = []) => this.#send(client, one, values, false);
      await client.query('BEGIN');
      try {
        const result = await work(ask);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        if (!isConnectionLost(error)) await client.query('ROLLBACK').catch(() => {});
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const give of this.#waiting.splice(0)) give(null);
    await Promise.all(this.#free.splice(0).map((client) => client.end().catch(() => {})));
  }

  async #persist<T>(work: (client: Client, wasLost: boolean) => Promise<T>): Promise<T> {
    const until = monotonicMs() + this.#options.patienceMs;
    let wasLost = false;
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await this.#once((client) => work(client, wasLost));
      } catch (error) {
        if (this.#closed) throw storeClosed();
        wasLost ||= isConnectionLost(error);
        if (isPrepareRefused(error) && this.#prepares) this.#prepares = false;
        else if (!isPassing(error) || monotonicMs() >= until) throw error;
        else await delay(pauseMs * (0.5 + this.#options.random() / 2));
      }
    }
  }

  async #once<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const client = await this.#take();
    let isLost = false;
    try {
      return await work(client);
    } catch (error) {
      isLost = !(error instanceof ParleyError) && isConnectionLost(error);
      throw error;
    } finally {
      this.#give(client, isLost);
    }
  }

  async #send<Row>(
    client: Client,
    one: Statement,
    values: readonly unknown[],
    prepares: boolean,
  ): Promise<readonly Row[]> {
    const { name, text } = this.#inPlace(one);
    const query = { text, values: [...values] };
    const result = await client.query(prepares ? { ...query, name } : query);
    return result.rows as Row[];
  }

  #inPlace(one: Statement): NamedStatement {
    const known = this.#named.get(one);
    if (known !== undefined) return known;
    const named = inSchema(one, this.#options.schema);
    this.#named.set(one, named);
    return named;
  }

  async #take(): Promise<Client> {
    if (this.#closed) throw storeClosed();
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#open >= this.#options.size) {
      const given = await new Promise<Client | null>((resolve) => this.#waiting.push(resolve));
      if (given !== null) return given;
      return this.#take();
    }
    this.#open += 1;
    try {
      const client = await this.#options.connect();
      client.on('error', () => this.#drop(client));
      return client;
    } catch (error) {
      this.#open -= 1;
      this.#waiting.shift()?.(null);
      throw isPassing(error) ? error : storeError(error, this.#options.name);
    }
  }

  #give(client: Client, isLost: boolean): void {
    if (isLost || this.#closed) {
      this.#open -= 1;
      client.removeAllListeners('error');
      client.on('error', () => {});
      void client.end().catch(() => {});
      // The next waiting call opens a new connection.
      this.#waiting.shift()?.(null);
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(client);
    else next(client);
  }

  /** Forgets a connection that failed while no call used it. */
  #drop(client: Client): void {
    const at = this.#free.indexOf(client);
    if (at < 0) return;
    this.#free.splice(at, 1);
    this.#open -= 1;
  }
}

export function storeClosed(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'The store is closed.');
}
