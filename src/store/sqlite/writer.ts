// Runs all writes of a store in the order of their arrival. Writes that wait at the same moment share one transaction, and so one sync of
// the disk. Each has a savepoint, so a failed write does not affect the others. None settles before the commit.
import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';
import type { Connection } from './connection.ts';
import type { IsWanted, LockWait } from './lock-wait.ts';
import { whenUnlocked } from './lock-wait.ts';
import type { Steps } from './steps.ts';

interface Write {
  /** May run twice: if the shared transaction is lost, the work runs again alone. */
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** How long (ms) the write has waited for a lock, and how long it may wait. */
  waited: number;
  readonly waitMs: number;
}

type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Two limits for one transaction, because other processes and this event loop wait for it. */
const largestGroup = 500;
const longestGroupMs = 20;

export class Writer {
  readonly #connection: Connection;
  readonly #wait: LockWait;
  #waiting: Write[] = [];
  /** Each settles its write and never rejects. */
  #longWaiting: (() => Promise<void>)[] = [];
  #draining: Promise<void> | null = null;

  constructor(connection: Connection, wait: LockWait) {
    this.#connection = connection;
    this.#wait = wait;
  }

  /**
   * Queues a write. The signal withdraws a write that still waits; the call then rejects with the signal's reason. `waitMs` is the longest
   * wait for a lock.
   */
  write<T>(work: () => T, signal?: AbortSignal, waitMs = this.#wait.waitMs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      signal?.throwIfAborted();
      const takeBack = () => {
        const at = this.#waiting.indexOf(write);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        reject(signal?.reason);
      };
      const settled = () => signal?.removeEventListener('abort', takeBack);
      const write: Write = {
        work,
        resolve(value) {
          settled();
          resolve(value as T);
        },
        reject(error) {
          settled();
          reject(error);
        },
        waited: 0,
        waitMs,
      };
      signal?.addEventListener('abort', takeBack, { once: true });
      this.#waiting.push(write);
      this.#draining ??= this.#drain();
    });
  }

  /**
   * Runs work of several transactions, one per step. Other writes run between two steps, so none waits for all of them. If a step fails,
   * the earlier steps stay.
   */
  async writeInParts<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const { done, value } = await this.writeAlone(() => steps.next());
      if (done === true) return value;
    }
  }

  /** Runs work that takes longer than most writes, in a transaction of its own. */
  writeAlone<T>(work: () => T): Promise<T> {
    return this.writeElsewhere(() => this.#transaction(work, this.#wait.waitMs));
  }

  /** Waits for a transaction of another connection. Writes that arrive meanwhile wait for its end, not for the store's lock. */
  writeElsewhere<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#longWaiting.push(() => work().then(resolve, reject));
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when no write waits any more. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length + this.#longWaiting.length > 0) {
      // Every request that has already arrived can add its write before the group is closed.
      await yieldToEventLoop();
      await this.#commitWaiting();
      await this.#longWaiting.shift()?.();
    }
    this.#draining = null;
  }

  async #commitWaiting(): Promise<void> {
    if (this.#waiting.length === 0) return;
    try {
      const wait = { ...this.#wait, waitMs: Number.POSITIVE_INFINITY };
      const isWanted: IsWanted = (pausedMs, failure) => this.#stillWaiting(pausedMs, failure);
      await whenUnlocked(() => this.#connection.run('BEGIN IMMEDIATE'), wait, isWanted);
    } catch (error) {
      for (const write of this.#waiting.splice(0)) write.reject(error);
      return;
    }
    const group = this.#waiting.splice(0, largestGroup);
    try {
      const outcomes = group.length === 1 ? [this.#runAlone(group[0] as Write)] : this.#runTogether(group);
      // The writes that had no time left come first in the next group.
      this.#waiting.unshift(...group.splice(outcomes.length));
      this.#connection.run('COMMIT');
      settle(group, outcomes);
    } catch (error) {
      this.#connection.rollback();
      if (group.length === 1) group[0]?.reject(error);
      else await this.#commitOneByOne(group);
    }
  }

  /** Rejects the writes whose own time for the lock is over. False if no write is left. */
  #stillWaiting(pausedMs: number, failure: unknown): boolean {
    for (const write of this.#waiting) write.waited += pausedMs;
    const isOver = ({ waited, waitMs }: Write) => waited >= waitMs;
    const over = this.#waiting.filter(isOver);
    this.#waiting = this.#waiting.filter((write) => !isOver(write));
    for (const write of over) write.reject(failure);
    return this.#waiting.length > 0;
  }

  #runAlone(write: Write): Outcome {
    return { value: write.work() };
  }

  /** Runs the first writes, at least one, until the time is over, and returns their outcomes. */
  #runTogether(group: readonly Write[]): readonly Outcome[] {
    const outcomes: Outcome[] = [];
    const start = performance.now();
    for (const write of group) {
      outcomes.push(this.#runInSavepoint(write));
      if (performance.now() - start > longestGroupMs) break;
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

  /** Runs each write alone after a shared transaction was lost, for example to a full disk, so that each gets its own result. */
  async #commitOneByOne(group: readonly Write[]): Promise<void> {
    for (const write of group) {
      try {
        settle([write], [await this.#transaction(() => this.#runAlone(write), write.waitMs)]);
      } catch (error) {
        write.reject(error);
      }
    }
  }

  async #transaction<T>(work: () => T, waitMs: number): Promise<T> {
    await whenUnlocked(() => this.#connection.run('BEGIN IMMEDIATE'), { ...this.#wait, waitMs });
    try {
      const value = work();
      this.#connection.run('COMMIT');
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
