// How the calls of a store reach SQLite: reads at once, long reads in steps, writes through the writer, failures in Parley's words.
import { ParleyError } from '../../service/errors.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { LongReads } from './long-reads.ts';
import { storeError } from './sqlite-errors.ts';
import { atOnce, type Steps } from './steps.ts';
import { Writer } from './writer.ts';

export class StoreAccess {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly wait: LockWait;
  readonly #longReads: LongReads;
  readonly #toEnd = new Set<Promise<unknown>>();
  #closed = false;

  constructor(connection: Connection, wait: LockWait) {
    this.connection = connection;
    this.writer = new Writer(connection, wait);
    this.wait = wait;
    this.#longReads = new LongReads(connection.path, wait);
  }

  read<T>(work: (connection: Connection) => T): Promise<T> {
    return this.run(() => whenUnlocked(() => this.connection.read(() => work(this.connection)), this.wait));
  }

  /** Nearly always one step is all: then it costs what any read does. `elsewhere` reads what is longer outside the event loop. */
  readInSteps<T>(
    projectId: string,
    begin: (connection: Connection) => Steps<T>,
    elsewhere: (() => Promise<T>) | null = null,
  ): Promise<T> {
    // The steps would run on a connection of their own.
    if (this.connection.isAlone) return this.read((connection) => atOnce(begin(connection)));
    const firstStep = () => this.connection.readAtOneMoment(() => begin(this.connection).next());
    return this.run(async () => {
      const { done, value } = await whenUnlocked(firstStep, this.wait);
      if (done === true) return value;
      return elsewhere?.() ?? this.#longReads.run(projectId, begin);
    });
  }

  /** Projects take turns. */
  write<T>(party: string, work: (connection: Connection) => T, signal?: AbortSignal): Promise<T> {
    return this.run(() => this.writer.write(() => work(this.connection), { party, signal }), signal);
  }

  /** A call of any kind: refused once the store is closed, and its failure in Parley's words. */
  async run<T>(call: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) throw storeClosed();
    try {
      return await call();
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      if (!this.connection.open) throw storeClosed();
      throw storeError(error, this.connection.path);
    }
  }

  /** A call of several transactions: the store is closed after its end. */
  async runToEnd<T>(call: () => Promise<T>): Promise<T> {
    const running = this.run(call);
    this.#toEnd.add(running);
    try {
      return await running;
    } finally {
      this.#toEnd.delete(running);
    }
  }

  /** Waits for the writes that were asked for; a call after this rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#longReads.close(storeClosed());
    await Promise.allSettled(this.#toEnd);
    await this.writer.idle();
    if (this.connection.open) this.connection.close();
  }
}

export function storeClosed(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'The store is closed.');
}
