// Runs all writes of a store. The parties take turns; the writes of one party run in the order of their calls. Writes that wait at the same
// moment share one transaction, and so one sync of the disk. None settles before the commit. If one fails, all run again, each with a
// savepoint, so that its failure does not undo the others.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { Connection } from './connection.ts';
import { FairQueue } from './fair-queue.ts';
import type { FilesInPlace } from './files-in-place.ts';
import type { IsWanted, LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import type { Steps } from './steps.ts';

interface WriteOptions {
  /** The project that the write belongs to, or {@link storeItself}. */
  readonly party?: string;
  /** Removes the write if it still waits. The write then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long (ms) this write waits for a lock; by default as long as all writes of the store. */
  readonly waitMs?: number;
}

interface Write {
  readonly party: string;
  /** May run several times: again when another write of its transaction fails, or when that transaction was lost. */
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** How long (ms) the write has waited for a lock, and how long it may wait. */
  waited: number;
  readonly waitMs: number;
}

interface LongWrite {
  readonly party: string;
  /** Settles its write and never rejects. */
  readonly run: () => Promise<void>;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Two limits for one transaction, because other processes and this event loop wait for it. */
const largestGroup = 500;
const longestGroupMs = 20;

/**
 * After a failed write, this many groups have savepoints from the start, so that frequent failures do not run every group twice. Other groups
 * have none: a savepoint takes half the time of a small write, and copies each page that a large one changes.
 */
const groupsWithSavepoints = 64;

/** A write that follows the last one sooner than this (ms) is probably not alone: the next turn of the event loop may bring more. */
const soonMs = 1;
/** The event loop turns at least so often (ms) between writes, also for a caller that does nothing but write. */
const maxMsBetweenYields = 50;

/** The party of a write that belongs to no project. */
export const storeItself = '';

export class Writer {
  readonly #connection: Connection;
  readonly #wait: LockWait;
  readonly #files: FilesInPlace | undefined;
  readonly #waiting = new FairQueue<Write>();
  readonly #longWaiting = new FairQueue<LongWrite>();
  #draining: Promise<void> | null = null;
  #lastWriteMs = Number.NEGATIVE_INFINITY;
  #lastGroupSize = 0;
  /** How many of the next groups have savepoints. */
  #savepointGroups = 0;
  #lastYieldMs = Number.POSITIVE_INFINITY;

  /** `files` refuses a transaction if it would be lost. */
  constructor(connection: Connection, wait: LockWait, files?: FilesInPlace) {
    this.#connection = connection;
    this.#wait = wait;
    this.#files = files;
  }

  write<T>(
    work: () => T,
    { party = storeItself, signal, waitMs = this.#wait.waitMs }: WriteOptions = {},
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      signal?.throwIfAborted();
      const discard = () => {
        const taken = this.#waiting.takeWhere((other) => other === write);
        if (taken.length > 0) reject(signal?.reason);
      };
      const stopListening = () => signal?.removeEventListener('abort', discard);
      const write: Write = {
        party,
        work,
        resolve(value) {
          stopListening();
          resolve(value as T);
        },
        reject(error) {
          stopListening();
          reject(error);
        },
        waited: 0,
        waitMs,
      };
      signal?.addEventListener('abort', discard, { once: true });
      this.#waiting.add(write);
      this.#draining ??= this.#drain();
    });
  }

  /**
   * Runs work of several transactions, one per step. Other writes run between two steps, so none waits for all of them. If a step fails,
   * the earlier steps stay.
   */
  async writeInParts<T>(steps: Steps<T>, party?: string): Promise<T> {
    for (;;) {
      const { done, value } = await this.writeAlone(() => steps.next(), party);
      if (done === true) return value;
    }
  }

  /** Runs a write that takes longer than most, in a transaction of its own. */
  writeAlone<T>(work: () => T, party?: string): Promise<T> {
    return this.writeElsewhere(() => this.#transaction(work, this.#wait.waitMs), party);
  }

  /**
   * Runs a transaction of another connection. Writes that arrive meanwhile wait for its end in the queue, not for the lock of the
   * store.
   */
  writeElsewhere<T>(work: () => Promise<T>, party = storeItself): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#longWaiting.add({ party, run: () => work().then(resolve, reject) });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when no write waits any more. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length + this.#longWaiting.length > 0) {
      await this.#waitForOthers();
      await this.#commitWaiting();
      await this.#longWaiting.take()?.run();
      this.#lastWriteMs = monotonicMs();
    }
    this.#draining = null;
  }

  /**
   * Lets a request that has already arrived add its write before the group is closed. A write of a single caller does not wait: the last
   * group was one write, and it is longer ago than `soonMs`.
   */
  async #waitForOthers(): Promise<void> {
    const now = monotonicMs();
    this.#lastYieldMs = Math.min(this.#lastYieldMs, now);
    const isAlone = this.#lastGroupSize <= 1 && now - this.#lastWriteMs > soonMs;
    if (isAlone && now - this.#lastYieldMs < maxMsBetweenYields) return;
    await yieldToEventLoop();
    this.#lastYieldMs = monotonicMs();
  }

  async #commitWaiting(): Promise<void> {
    if (this.#waiting.length === 0) return;
    try {
      const wait = { ...this.#wait, waitMs: Number.POSITIVE_INFINITY };
      const isWanted: IsWanted = (pausedMs, failure) => this.#rejectExpired(pausedMs, failure);
      await whenUnlocked(() => this.#begin(), wait, isWanted);
    } catch (error) {
      for (const write of this.#waiting.takeWhere(() => true)) write.reject(error);
      return;
    }
    const group: Write[] = [];
    const hasSavepoints = this.#savepointGroups > 0 && this.#waiting.length > 1;
    try {
      const outcomes = this.#runWaiting(group, hasSavepoints);
      this.#lastGroupSize = group.length;
      this.#connection.commit();
      settle(group, outcomes);
    } catch (error) {
      this.#connection.rollback();
      if (group.length === 1) group[0]?.reject(error);
      else if (hasSavepoints) await this.#commitOneByOne(group);
      else await this.#repeatWithSavepoints(group);
    }
  }

  /** Rejects the writes whose own time for the lock is over. False if no write is left. */
  #rejectExpired(pausedMs: number, failure: unknown): boolean {
    const expired = this.#waiting.takeWhere((write) => {
      write.waited += pausedMs;
      return write.waited >= write.waitMs;
    });
    for (const write of expired) write.reject(failure);
    return this.#waiting.length > 0;
  }

  /** Moves waiting writes into the group, as many as the limits allow but at least one, and runs them. Returns their outcomes. */
  #runWaiting(group: Write[], hasSavepoints: boolean): readonly Outcome[] {
    const outcomes: Outcome[] = [];
    const start = monotonicMs();
    if (hasSavepoints) this.#savepointGroups -= 1;
    while (group.length < largestGroup) {
      const write = this.#waiting.take();
      if (write === undefined) break;
      group.push(write);
      outcomes.push(hasSavepoints ? this.#runInSavepoint(write) : { value: write.work() });
      if (monotonicMs() - start > longestGroupMs) break;
    }
    return outcomes;
  }

  #runInSavepoint(write: Write): Outcome {
    this.#connection.run('SAVEPOINT one_write');
    try {
      const value = write.work();
      this.#connection.run('RELEASE one_write');
      return { value };
    } catch (error) {
      // SQLite has ended the transaction, so the other writes of the group are lost too.
      if (!this.#connection.inTransaction) throw error;
      this.#connection.run('ROLLBACK TO one_write');
      this.#connection.run('RELEASE one_write');
      return { error };
    }
  }

  /** Runs a group again after one of its writes failed, so that the others are stored. The group may have to wait for the lock again. */
  async #repeatWithSavepoints(group: readonly Write[]): Promise<void> {
    this.#savepointGroups = groupsWithSavepoints;
    this.#waiting.putBack(group);
    await this.#commitWaiting();
  }

  /** Runs each write alone after a shared transaction was lost, for example to a full disk, so that each gets its own result. */
  async #commitOneByOne(group: readonly Write[]): Promise<void> {
    for (const write of group) {
      try {
        settle([write], [{ value: await this.#transaction(write.work, write.waitMs) }]);
      } catch (error) {
        write.reject(error);
      }
    }
  }

  #begin(): void {
    this.#files?.require();
    this.#connection.beginWriting();
  }

  async #transaction<T>(work: () => T, waitMs: number): Promise<T> {
    await whenUnlocked(() => this.#begin(), { ...this.#wait, waitMs });
    try {
      const value = work();
      this.#connection.commit();
      return value;
    } catch (error) {
      this.#connection.rollback();
      throw error;
    }
  }
}

function settle(group: readonly Write[], outcomes: readonly Outcome[]): void {
  group.forEach((write, index) => {
    const outcome = outcomes[index] as Outcome;
    if ('error' in outcome) write.reject(outcome.error);
    else write.resolve(outcome.value);
  });
}
