// Sends the calls of a store over a fixed number of connections (open-connections.ts). A call waits for a free connection. Groups of calls
// grow meanwhile, so a busy pool makes larger groups and no errors. A call whose connection is lost is sent again until `patienceMs` is
// over. Therefore every statement of this store may be sent twice.
import { setTimeout as delay } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { ParleyError } from '../../service/errors.ts';
import type { StoreConnections } from '../../service/store-measures.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { storeClosed } from '../store-closed.ts';
import { type Connection, maxAnswerMs } from './connect.ts';
import { OpenConnections } from './open-connections.ts';
import type { PoolOptions } from './pool-options.ts';
import {
  isConnectionLost,
  isDeadlock,
  isPassing,
  isPrepareRefused,
  isSilence,
  isStopped,
  storeError,
} from './postgres-errors.ts';
import { inSchema, isRead, type NamedStatement, type Statement, statement, withoutNul } from './statement.ts';
import { StopLimit } from './stop-limit.ts';

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
/** How long (ms) a connection may be silent before its statement is sent again. A slow statement gets more time at its second sending. */
const defaultSilenceMs = 3000;
/** How long (ms) `askSoon` waits for a condition that passes. */
const soonMs = 1500;
/** How long a failed call waits for the end of its server process, ms. */
const endMs = 1000;

// Ends the server process of a silent connection. The statement of that connection may still be on its way, or wait for a lock. It must not
// be executed after its second sending, or after the call has failed. Without this, each failed call would also leave a connection of the
// database in use. Behind a pooler there is no process of this number, and only the request to cancel (connect.ts) reaches the statement.
const endBackend = statement(`
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid = $1 AND usename = current_user AND application_name = 'parley' AND pid <> pg_backend_pid()`);

type TimedQuery = QueryConfig & { readonly query_timeout?: number };

interface Sending {
  /** Whether it is unknown if an earlier sending did its work. */
  readonly wasLost: boolean;
  /** How long the connection may be silent, ms. */
  readonly answerMs: number;
}

interface Persistence {
  /** A read that the server has stopped is not sent again: it would take as long. */
  readonly isRead?: boolean;
  /** How long a call is sent again, ms. */
  readonly patienceMs?: number;
  readonly isUrgent?: boolean;
  /** True for work that is finished also after the stop of the process. */
  readonly outlastsStop?: boolean;
}

export class ConnectionPool {
  readonly #options: PoolOptions;
  readonly #named = new Map<Statement, NamedStatement>();
  readonly #connections: OpenConnections;
  readonly #silenceMs: number;
  #prepares: boolean;
  #closed = false;
  #onCommit: ((milliseconds: number) => void) | null = null;
  readonly #stop: StopLimit;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#connections = new OpenConnections(options);
    this.#prepares = options.prepare;
    this.#silenceMs = options.silenceMs ?? defaultSilenceMs;
    this.#stop = new StopLimit(options.stopSignal);
  }

  /** How long (ms) a call waits for a condition that passes, such as a lost connection or a lock. */
  get patienceMs(): number {
    return this.#options.patienceMs;
  }

  /** Rejects with PostgreSQL's error, or with a `ParleyError` if no connection can be opened. */
  readonly ask: Ask = (one, values, again) => this.#ask(one, values, again, false);

  /** The same for the end of a turn: what a stopped chat has received is stored, as long as the patience lasts. */
  readonly askToEnd: Ask = (one, values, again) => this.#ask(one, values, again, true);

  /** The listener gets the time of each writing statement, with its wait for a connection, in ms. */
  onCommit(listener: (milliseconds: number) => void): void {
    this.#onCommit = listener;
  }

  /** The error that a caller gets: the reason of a stop, or a `ParleyError`. */
  failureOf(error: unknown): unknown {
    return this.#stop.isReason(error) ? error : storeError(error, this.#options.name);
  }

  get state(): StoreConnections {
    return this.#connections.state;
  }

  /** Like {@link ask}, with less patience: for a question whose answer is wanted soon. */
  readonly askSoon = <Row>(one: Statement): Promise<readonly Row[]> =>
    this.#persist((client, { answerMs }) => this.#send<Row>(client, one, [], this.#prepares, answerMs), {
      patienceMs: Math.min(soonMs, this.#options.patienceMs),
    });

  /** Like {@link ask}, before all other calls and over a connection that they leave free, because all of them may wait for a lock. */
  readonly askUrgently = <Row>(one: Statement, values: readonly unknown[]): Promise<readonly Row[]> =>
    this.#persist((client, { answerMs }) => this.#send<Row>(client, one, values, this.#prepares, answerMs), {
      isUrgent: true,
    });

  /**
   * A statement that reads or rewrites whole tables, outside of any transaction. It is sent once, unless such statements of two processes
   * wait for each other: PostgreSQL then ends one of them after a second.
   */
  readonly askOnce = async <Row>(one: Statement): Promise<readonly Row[]> => {
    const query: TimedQuery = { text: this.#inPlace(one).text, query_timeout: longestMs };
    const until = monotonicMs() + this.#options.patienceMs;
    for (;;) {
      try {
        return (await this.#once((client) => client.query(query), { outlastsStop: true })).rows as Row[];
      } catch (error) {
        if (!isDeadlock(error) || monotonicMs() >= until) throw error;
        await delay(longestPauseMs * this.#options.random());
      }
    }
  };

  /**
   * One transaction; `work` may run again from its beginning. `isLong`: its statements read or rewrite whole tables, and are not prepared.
   */
  transaction<T>(work: (ask: Ask) => Promise<T>, isLong = false): Promise<T> {
    return this.#persist(
      async (client, { answerMs }) => {
        const [workMs, prepares] = isLong ? [longestMs, false] : [answerMs, this.#prepares];
        const ask: Ask = (one, values = []) => this.#send(client, one, values, prepares, workMs);
        // Without this limit, the server process of a connection that is cut silently would keep its locks for hours.
        const text = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${this.#silenceMs}`;
        const begin: TimedQuery = { text, query_timeout: answerMs };
        await client.query(begin);
        try {
          const result = await work(ask);
          await client.query('COMMIT');
          return result;
        } catch (error) {
          if (!isConnectionLost(error)) await client.query('ROLLBACK').catch(() => {});
          throw error;
        }
      },
      { outlastsStop: isLong },
    );
  }

  /** A connection for this work alone. Each statement is sent once: what a lost connection held is lost with it. */
  alone<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    return this.#once(
      (client) => work((one, values = []) => this.#send(client, one, values, false, longestMs)),
      { outlastsStop: true },
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#stop.isOver) this.#connections.dropFree();
    await this.#connections.close();
  }

  async #ask<Row>(
    one: Statement,
    values: readonly unknown[] = [],
    again = one,
    outlastsStop: boolean,
  ): Promise<readonly Row[]> {
    const began = this.#onCommit === null ? 0 : monotonicMs();
    const rows = await this.#persist(
      (client, { wasLost, answerMs }) =>
        this.#send<Row>(client, wasLost ? again : one, values, this.#prepares, answerMs),
      { isRead: isRead(one), outlastsStop },
    );
    if (this.#onCommit !== null && !isRead(one)) this.#onCommit(monotonicMs() - began);
    return rows;
  }

  async #persist<T>(
    work: (client: Connection, sending: Sending) => Promise<T>,
    {
      isRead = false,
      patienceMs = this.#options.patienceMs,
      isUrgent = false,
      outlastsStop = false,
    }: Persistence = {},
  ): Promise<T> {
    const until = monotonicMs() + patienceMs;
    let wasLost = false;
    /** A connection that gave no answer. */
    let silent: Connection | null = null;
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const prepares = this.#prepares;
      try {
        return await this.#once(
          async (client) => {
            if (silent !== null) await this.#end(client, silent);
            silent = null;
            const leftMs = wasLost ? Math.min(until - monotonicMs(), maxAnswerMs) : 0;
            try {
              return await work(client, { wasLost, answerMs: Math.max(leftMs, this.#silenceMs) });
            } catch (error) {
              if (isSilence(error)) silent = client;
              throw error;
            }
          },
          { isUrgent, outlastsStop },
        );
      } catch (error) {
        if (this.#closed) throw storeClosed();
        wasLost ||= isConnectionLost(error);
        // Other calls that were sent at the same moment are refused as well.
        if (isPrepareRefused(error) && prepares) this.#prepares = false;
        else if (!isPassing(error) || monotonicMs() >= until || (isRead && isStopped(error))) {
          if (silent !== null && !this.#stop.isReason(error)) await this.#endSoon(silent);
          throw error;
        } else await delay(pauseMs * (0.5 + this.#options.random() / 2));
      }
    }
  }

  /** Ends the server process of the silent connection over `client`. */
  async #end(client: Connection, silent: Connection): Promise<void> {
    await silent.cancelled;
    await this.#send(client, endBackend, [silent.processID], false, this.#silenceMs);
  }

  /** Ends the server process of a call that has failed. A database that cannot be reached does not delay the failure. */
  async #endSoon(silent: Connection): Promise<void> {
    const ended = this.#once((client) => this.#end(client, silent), {
      isUrgent: true,
      outlastsStop: true,
    }).catch(() => {});
    await Promise.race([ended, delay(endMs, undefined, { ref: false })]);
  }

  async #once<T>(
    work: (client: Connection) => Promise<T>,
    { isUrgent = false, outlastsStop = false }: Pick<Persistence, 'isUrgent' | 'outlastsStop'> = {},
  ): Promise<T> {
    const limited = <Value>(call: Promise<Value>) => (outlastsStop ? call : this.#stop.within(call));
    const client = await limited(this.#connections.take(isUrgent));
    let isLost = false;
    try {
      return await limited(work(client));
    } catch (error) {
      isLost = !(error instanceof ParleyError) && isConnectionLost(error);
      if (isSilence(error) || this.#stop.isReason(error)) {
        client.cancelStatement();
        // Idle connections take the same way through the network.
        this.#connections.dropFree();
      }
      // The process may end with the call.
      if (this.#stop.isReason(error)) await client.cancelled;
      throw error;
    } finally {
      this.#connections.give(client, isLost);
    }
  }

  async #send<Row>(
    client: Connection,
    one: Statement,
    values: readonly unknown[],
    prepares: boolean,
    answerMs: number,
  ): Promise<readonly Row[]> {
    const { name, text } = this.#inPlace(one);
    const query: TimedQuery = { text, values: values.map(withoutNul), query_timeout: answerMs };
    const result = await client.query(prepares && !one.plannedAnew ? { name, ...query } : query);
    return result.rows as Row[];
  }

  #inPlace(one: Statement): NamedStatement {
    const known = this.#named.get(one);
    if (known !== undefined) return known;
    const named = inSchema(one, this.#options.schema);
    this.#named.set(one, named);
    return named;
  }
}
