// Runs the long reads of a served store (searches, and filters over many sessions) in processes of their own. FTS5 reads every word with
// the beginning that is searched for before it returns a row. That can take seconds without a pause. read-queue.ts chooses which read runs.
import type { Session } from '../../service/session.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { isProgramAvailable } from '../../system/program-thread.ts';
import { tooLong } from '../search-refusals.ts';
import type { Rows, SearchFilter, SessionFilter } from '../session-filters.ts';
import { storeClosed } from '../store-closed.ts';
import { type QueuedRead, type ReadLimits, ReadQueue } from './read-queue.ts';
import type { Backlog, Indexed } from './search-index.ts';
import { StoreProcess } from './store-process.ts';
import type { ReadOrder, StorePlace } from './store-worker.ts';

export const defaultReadLimits: ReadLimits = {
  slowMs: 250,
  maxQuick: 4,
  maxRunning: 12,
  longestSearchMs: 60_000,
};

interface Read extends QueuedRead {
  readonly order: ReadOrder;
  reader: StoreProcess | null;
  readonly resolve: (value: unknown) => void;
}

/** Undefined if long reads run in the process of the caller, in steps. */
export type ProcessesOf = ((place: StorePlace) => StoreProcesses) | undefined;

export class StoreProcesses {
  readonly #file: URL;
  readonly #place: StorePlace;
  readonly #limits: ReadLimits;
  readonly #reads: ReadQueue<Read>;
  #idle: StoreProcess[] = [];
  #indexing: StoreProcess | null = null;
  #closed: Error | null = null;
  #retry: NodeJS.Timeout | null = null;

  /** `file` is the built program of compose/served-store-worker.ts. */
  constructor(file: URL, place: StorePlace, limits: ReadLimits = defaultReadLimits) {
    this.#file = file;
    this.#place = place;
    this.#limits = limits;
    this.#reads = new ReadQueue(limits);
  }

  /** False if the program is not in its place any more, for example because another version has replaced it. */
  get isAvailable(): boolean {
    return isProgramAvailable(this.#file);
  }

  /** Rejects with the signal's reason once that fires. */
  search(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage> {
    return this.#read({ kind: 'search', projectId, filter }, signal) as Promise<SearchPage>;
  }

  list(projectId: string, filter: SessionFilter): Promise<Rows<Session>> {
    return this.#read({ kind: 'list', projectId, filter }) as Promise<Rows<Session>>;
  }

  /** Indexes some waiting messages, in one transaction. Null if no message waits. */
  async indexStep(backlog: Backlog): Promise<Indexed | null> {
    if (this.#closed !== null) throw this.#closed;
    if (this.#indexing === null || this.#indexing.isOver) this.#indexing = this.#newProcess();
    return (await this.#indexing.ask({ kind: 'index', backlog })) as Indexed | null;
  }

  /** Rejects every read, also a later one, and ends all processes. */
  async close(): Promise<void> {
    const failure = storeClosed();
    this.#closed = failure;
    const reads = this.#reads.all;
    for (const read of reads) read.cancel(failure);
    const readers = reads.map(({ reader }) => reader);
    await Promise.all([...readers, ...this.#idle, this.#indexing].map((reader) => reader?.end()));
  }

  #read(order: ReadOrder, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed !== null) throw this.#closed;
      const onAbort = () => read.cancel(signal?.reason);
      const read: Read = {
        order,
        since: null,
        isSlow: false,
        isCancelled: false,
        reader: null,
        resolve: (value) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(value);
        },
        cancel: (error) => {
          signal?.removeEventListener('abort', onAbort);
          this.#reads.discard(read);
          reject(error);
          void read.reader?.end();
        },
      };
      signal?.addEventListener('abort', onAbort);
      this.#reads.add(read);
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    while (this.#closed === null) {
      const next = this.#reads.start();
      if (next === 'busy') this.#startLater();
      if (next === 'busy' || next === null) return;
      void this.#run(next);
    }
  }

  #startLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#startWaiting();
    }, this.#limits.slowMs).unref();
  }

  async #run(read: Read): Promise<void> {
    const { order, resolve, cancel } = read;
    const reader = this.#takeIdle() ?? this.#newProcess();
    read.reader = reader;
    await reader.ready;
    this.#keepSpare();
    read.since = monotonicMs();
    const timers = this.#timersOf(read, reader);
    try {
      resolve(await reader.ask(order));
    } catch (error) {
      // An error that the process answered with does not end the process, so `cancel` must not end it either.
      read.reader = null;
      cancel(error);
    }
    for (const timer of timers) clearTimeout(timer);
    // The lowered priority of a process cannot be raised again, so a process with a slow read is not used again.
    const isKept = !reader.isOver && !read.isSlow && this.#idle.length < this.#limits.maxQuick;
    if (isKept && this.#closed === null) this.#idle.push(reader);
    else await reader.end();
    this.#reads.end(read);
    this.#startWaiting();
  }

  #timersOf(read: Read, reader: StoreProcess): readonly NodeJS.Timeout[] {
    const { order } = read;
    const { slowMs, longestSearchMs } = this.#limits;
    const onSlow = () => {
      read.isSlow = true;
      reader.lowerPriority();
      this.#startWaiting();
    };
    const slow = setTimeout(onSlow, slowMs);
    if (order.kind !== 'search') return [slow];
    const onTooLong = () => read.cancel(tooLong(order.filter.terms, longestSearchMs));
    return [slow, setTimeout(onTooLong, longestSearchMs)];
  }

  #takeIdle(): StoreProcess | undefined {
    this.#idle = this.#idle.filter(({ isOver }) => !isOver);
    return this.#idle.pop();
  }

  /** Keeps one idle process, so that the next read does not wait for the start of a process. */
  #keepSpare(): void {
    if (this.#idle.length === 0 && this.#closed === null) this.#idle.push(this.#newProcess());
  }

  #newProcess(): StoreProcess {
    return new StoreProcess(this.#file, this.#place);
  }
}
