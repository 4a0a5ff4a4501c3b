// Reads that may read much of a store, in bounded steps. Between two steps the event loop turns, so that other work runs. Each read has a
// snapshot of its own on another connection: it sees one state of the store, taken no earlier than its call.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import { storeClosed } from '../store-closed.ts';
import type { Connection } from './connection.ts';
import type { LockWait } from './lock-wait.ts';
import { openSnapshot } from './snapshot.ts';
import type { Steps } from './steps.ts';

/** The most snapshots at the same time. Each holds an open file and a cache of pages. */
const maxRunning = 16;
/** The most snapshots of one project. Its other reads wait; the reads of other projects overtake them. */
const maxOfProject = 2;

interface Read {
  readonly projectId: string;
  readonly begin: (connection: Connection) => Steps<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface RunningRead extends Read {
  readonly connection: Connection;
  readonly steps: Steps<unknown>;
}

export class LongReads {
  readonly #original: Connection;
  readonly #wait: LockWait;
  #waiting: Read[] = [];
  #running: RunningRead[] = [];
  #isRunning = false;
  #closed: Error | null = null;

  constructor(original: Connection, wait: LockWait) {
    this.#original = original;
    this.#wait = wait;
  }

  run<T>(projectId: string, begin: (connection: Connection) => Steps<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed !== null) throw this.#closed;
      this.#waiting.push({ projectId, begin, resolve: (value) => resolve(value as T), reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      void this.#runAll();
    });
  }

  /** Rejects every read, also a later one. */
  close(): void {
    const failure = storeClosed();
    this.#closed = failure;
    for (const read of this.#waiting.splice(0)) read.reject(failure);
    for (const read of this.#running.splice(0)) {
      read.connection.close();
      read.reject(failure);
    }
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length + this.#running.length > 0) {
      // Each turn of the event loop runs one step, for any number of reads.
      await yieldToEventLoop();
      const next = this.#nextToStart();
      if (next !== undefined) await this.#start(next);
      this.#step();
    }
    this.#isRunning = false;
  }

  /** The read that has waited longest, of the project with the fewest running reads. */
  #nextToStart(): Read | undefined {
    if (this.#running.length >= maxRunning) return undefined;
    const runningOf = ({ projectId }: Read) =>
      this.#running.filter((running) => running.projectId === projectId).length;
    return this.#waiting
      .filter((read) => runningOf(read) < maxOfProject)
      .reduce<Read | undefined>(
        (best, read) => (best === undefined || runningOf(read) < runningOf(best) ? read : best),
        undefined,
      );
  }

  async #start(read: Read): Promise<void> {
    this.#waiting.splice(this.#waiting.indexOf(read), 1);
    let connection: Connection | null = null;
    try {
      const opened = await openSnapshot(this.#original, this.#wait);
      connection = opened;
      if (this.#closed !== null) throw this.#closed;
      this.#running.push({ ...read, connection: opened, steps: read.begin(opened) });
    } catch (error) {
      connection?.close();
      read.reject(error);
    }
  }

  /** Runs one step of the read that has waited longest for its next step. */
  #step(): void {
    const read = this.#running.shift();
    if (read === undefined) return;
    try {
      const { done, value } = read.steps.next();
      if (done !== true) {
        this.#running.push(read);
        return;
      }
      read.connection.close();
      read.resolve(value);
    } catch (error) {
      read.connection.close();
      read.reject(error);
    }
  }
}
