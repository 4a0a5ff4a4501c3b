// Runs the calls of a store on SQLite: short reads at once, long reads in steps, writes through the writer. Errors become Parley's own.
import { storeClosed } from '../store-closed.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import { LongReads } from './long-reads.ts';
import { refuseMigrated, schemaVersion } from './schema-version.ts';
import { isOfStatement, storeError } from './sqlite-errors.ts';
import { atOnce, type Steps } from './steps.ts';
import type { StoreDependencies } from './store-dependencies.ts';
import { storeItself, Writer } from './writer.ts';

type Place = Pick<StoreDependencies, 'files' | 'endsWithProcess'>;

export class StoreAccess {
  readonly connection: Connection;
  readonly writer: Writer;
  readonly wait: LockWait;
  readonly #longReads: LongReads;
  readonly #schema: number;
  readonly #toEnd = new Set<Promise<unknown>>();
  readonly #place: Place;
  #closed = false;

  constructor(connection: Connection, wait: LockWait, place: Place = {}) {
    this.connection = connection;
    this.#place = place;
    this.writer = new Writer(connection, wait, place.files);
    this.wait = wait;
    this.#schema = schemaVersion(connection);
    this.#longReads = new LongReads(connection, wait);
  }

  read<T>(work: (connection: Connection) => T): Promise<T> {
    return this.run(() => whenUnlocked(() => this.connection.read(() => work(this.connection)), this.wait));
  }

  /**
   * Reads in steps. Most reads end after one step and cost no more than a plain read. `elsewhere` runs a longer read outside the event
   * loop.
   */
  readInSteps<T>(
    projectId: string,
    begin: (connection: Connection) => Steps<T>,
    elsewhere: (() => Promise<T>) | null = null,
  ): Promise<T> {
    // The steps need a connection of their own, which a store that is open alone cannot have.
    if (this.connection.isExclusive) return this.read((connection) => atOnce(begin(connection)));
    const firstStep = () => this.connection.readSnapshot(() => begin(this.connection).next());
    return this.run(async () => {
      const { done, value } = await whenUnlocked(firstStep, this.wait);
      if (done === true) return value;
      return elsewhere?.() ?? this.#longReads.run(projectId, begin);
    });
  }

  /** Resolves if the store can be written, and still has the schema that it was opened with. */
  ping(): Promise<void> {
    // A transaction that changes no row: nothing reaches the disk. An empty one succeeds even for a file that can only be read.
    return this.write(storeItself, (connection) => {
      refuseMigrated(connection, this.#schema);
      connection.run('DELETE FROM meta WHERE 0');
    });
  }

  /** Runs a write. The parties, mostly projects, take turns. Rejects with the signal's reason if the signal fires while the write waits. */
  write<T>(party: string, work: (connection: Connection) => T, signal?: AbortSignal): Promise<T> {
    return this.run(() => this.writer.write(() => work(this.connection), { party, signal }), signal);
  }

  /** Runs any call. It is refused once the store is closed, and its error becomes Parley's own. */
  async run<T>(call: () => T | Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#closed) throw storeClosed();
    try {
      return await call();
    } catch (error) {
      if (signal?.aborted && error === signal.reason) throw error;
      if (!this.connection.open) throw storeClosed();
      // A newer schema may lack a table that this program asks for.
      if (isOfStatement(error)) refuseMigrated(this.connection, this.#schema);
      throw storeError(error, this.connection.path);
    }
  }

  /** Runs a call of several transactions. The store is closed only after the call has ended. */
  async runToEnd<T>(call: () => Promise<T>): Promise<T> {
    const running = this.run(call);
    this.#toEnd.add(running);
    try {
      return await running;
    } finally {
      this.#toEnd.delete(running);
    }
  }

  /** Waits for the pending writes. A later call rejects. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#longReads.close();
    await Promise.allSettled(this.#toEnd);
    await this.writer.idle();
    // To close the connection would write its log into a store that others use, and remove their log.
    if (!this.connection.open || this.#place.files?.areInPlace === false) return;
    if (this.#place.endsWithProcess === true) this.connection.leave();
    else this.connection.close();
  }
}
