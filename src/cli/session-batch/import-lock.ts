// The lock of the imports on one machine: only one process at a time looks up sessions, records them in its journal and stores them. Two
// imports of the same conversations therefore never both count a session as theirs.
//
// There are two lock files. The process with `imports.lock` may create sessions. A process that waits for it holds `imports.next.lock`, which
// shows the other one that somebody is waiting. The operating system releases both when a process ends.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TakeLock } from '../../system/file-lock.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { makeDataDirectory } from '../data-files.ts';
import { type BatchHolder, batchDirectory } from './journal.ts';

/** How long (ms) a process keeps the lock while others wait for it. */
const maxHoldMs = 250;
/** How long (ms) a process keeps the lock when it creates nothing. */
const idleMs = 20;
const maxPauseMs = 20;
/** After how long (ms) a process says that it waits. The other import may be suspended. */
const noticeMs = 2000;

export class ImportLock {
  readonly #directory: string;
  readonly #holder: BatchHolder;
  readonly #signal: AbortSignal;
  readonly #say: (line: string) => Promise<void>;
  #hasSaid = false;
  #release: (() => void) | null = null;
  #taking: Promise<void> | null = null;
  #users = 0;
  #since = 0;
  #isWanted = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(
    dataDirectory: string,
    holder: BatchHolder,
    { signal, say }: { readonly signal: AbortSignal; readonly say: (line: string) => Promise<void> },
  ) {
    this.#say = say;
    this.#directory = batchDirectory(dataDirectory);
    this.#holder = holder;
    this.#signal = signal;
  }

  /** Runs the work while this process holds the lock. Several calls may share it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    while (this.#release === null || this.#isWanted) {
      if (this.#users === 0) this.#releaseLock();
      this.#taking ??= this.#take().finally(() => {
        this.#taking = null;
      });
      await this.#taking;
    }
    clearTimeout(this.#idle);
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
      await this.#yieldIfWanted();
    }
  }

  close(): void {
    if (this.#users === 0) this.#releaseLock();
  }

  /** Releases the lock if nothing is created any more, or if another process has waited long enough. */
  async #yieldIfWanted(): Promise<void> {
    if (!this.#isWanted && monotonicMs() - this.#since > maxHoldMs) {
      // Checked once for calls that end at the same time, because each check opens the lock file.
      this.#since = monotonicMs();
      const take = await this.#locks();
      const next = take(this.#path('imports.next.lock'));
      this.#isWanted = next === null;
      next?.();
    }
    if (this.#users > 0) return;
    if (this.#isWanted) this.#releaseLock();
    else {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this.close(), idleMs).unref();
    }
  }

  #releaseLock(): void {
    clearTimeout(this.#idle);
    this.#release?.();
    this.#release = null;
    this.#isWanted = false;
  }

  async #take(): Promise<void> {
    // Waits for the calls that still use the lock.
    while (this.#users > 0) await this.#pause(maxPauseMs);
    if (this.#release !== null) return;
    const take = await this.#locks();
    const next = await this.#lock(take, 'imports.next.lock');
    try {
      this.#release = await this.#lock(take, 'imports.lock');
    } finally {
      next();
    }
    this.#since = monotonicMs();
  }

  async #lock(take: TakeLock, name: string): Promise<() => void> {
    const begun = monotonicMs();
    for (let pauseLimitMs = 2; ; pauseLimitMs = Math.min(pauseLimitMs * 2, maxPauseMs)) {
      const release = take(this.#path(name));
      if (release !== null) return release;
      if (!this.#hasSaid && monotonicMs() - begun > noticeMs) {
        this.#hasSaid = true;
        await this.#say('Waiting for another import on this machine, which is running or suspended.');
      }
      await this.#pause(pauseLimitMs * (0.5 + this.#holder.random() / 2));
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await delay(milliseconds, undefined, { signal: this.#signal });
  }

  async #locks(): Promise<TakeLock> {
    makeDataDirectory(this.#directory);
    return this.#holder.locks();
  }

  #path(name: string): string {
    return join(this.#directory, name);
  }
}
