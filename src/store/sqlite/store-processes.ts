// Long reads in processes of their own, for a store that is served: searches, and filters over many sessions. FTS5 reads every word with
// the beginning that is searched for before it gives a row: that can last for seconds, uninterrupted.
import { ParleyError } from '../../service/errors.ts';
import type { Session } from '../../service/session.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import { tooLong } from '../search-refusals.ts';
import type { Rows, SearchFilter, SessionFilter } from '../session-filters.ts';
import { StoreProcess } from './store-process.ts';
import type { ReadOrder, StorePlace } from './store-worker.ts';

/** How many reads run, each of another project or kind: the searches of one project wait for each other, and so do its filters. */
export interface ReadLimits {
  readonly running: number;
  /** When one has waited so long, one more runs, up to `mostRunning`. */
  readonly patienceMs: number;
  readonly mostRunning: number;
  /** Where that is reached, too, the search is ended that has lasted longest, and at least so long. */
  readonly crowdedSearchMs: number;
  readonly longestSearchMs: number;
}

export const usualReadLimits: ReadLimits = {
  running: 4,
  patienceMs: 250,
  mostRunning: 12,
  crowdedSearchMs: 5000,
  longestSearchMs: 60_000,
};

interface Read {
  readonly order: ReadOrder;
  /** When it was asked for, then when it began. */
  since: number;
  reader: StoreProcess | null;
  readonly resolve: (value: unknown) => void;
  /** The read rejects at once, and its process is ended. */
  readonly giveUp: (error: unknown) => void;
}

/** Undefined where long reads run in the process of the caller, a step at a time. */
export type ProcessesOf = ((place: StorePlace) => StoreProcesses) | undefined;

export class StoreProcesses {
  readonly #file: URL;
  readonly #place: StorePlace;
  readonly #limits: ReadLimits;
  #waiting: Read[] = [];
  #running: Read[] = [];
  #idle: StoreProcess[] = [];
  #indexing: StoreProcess | null = null;
  #closed: Error | null = null;
  #retry: NodeJS.Timeout | null = null;

  /** The file is what the build makes of store-worker.ts. */
  constructor(file: URL, place: StorePlace, limits: ReadLimits = usualReadLimits) {
    this.#file = file;
    this.#place = place;
    this.#limits = limits;
  }

  /** Null where too much of the project is in no index yet. Rejects with the signal's reason once that fires. */
  search(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage | null> {
    return this.#read({ kind: 'search', projectId, filter }, signal) as Promise<SearchPage | null>;
  }

  list(projectId: string, filter: SessionFilter): Promise<Rows<Session>> {
    return this.#read({ kind: 'list', projectId, filter }) as Promise<Rows<Session>>;
  }

  #read(order: ReadOrder, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed !== null) throw this.#closed;
      const onAbort = () => read.giveUp(signal?.reason);
      const read: Read = {
        order,
        since: performance.now(),
        reader: null,
        resolve: (value) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(value);
        },
        giveUp: (error) => {
          signal?.removeEventListener('abort', onAbort);
          this.#waiting = this.#waiting.filter((other) => other !== read);
          reject(error);
          void read.reader?.end();
        },
      };
      signal?.addEventListener('abort', onAbort);
      this.#waiting.push(read);
      this.#startWaiting();
    });
  }

  /** Takes some messages into the indexes, in a transaction. How far it came, or null where nothing was left. */
  async indexStep(): Promise<number | null> {
    if (this.#closed !== null) throw this.#closed;
    if (this.#indexing === null || this.#indexing.isOver) this.#indexing = this.#newProcess();
    return (await this.#indexing.ask({ kind: 'index' })) as number | null;
  }

  /** Rejects every read with the failure. */
  async close(failure: Error): Promise<void> {
    this.#closed = failure;
    for (const read of [...this.#waiting, ...this.#running]) read.giveUp(failure);
    const running = this.#running.map(({ reader }) => reader);
    await Promise.all([...running, ...this.#idle, this.#indexing].map((reader) => reader?.end()));
  }

  /** Of the reads beside which none of their project and kind runs, the one that has waited longest. */
  #startWaiting(): void {
    while (this.#closed === null) {
      const isFree = ({ order: { kind, projectId } }: Read) =>
        !this.#running.some(({ order }) => order.kind === kind && order.projectId === projectId);
      const next = this.#waiting.find(isFree);
      if (next === undefined) return;
      if (!this.#hasRoom(next)) {
        this.#startLater();
        return;
      }
      this.#waiting = this.#waiting.filter((read) => read !== next);
      this.#running.push(next);
      void this.#run(next);
    }
  }

  /** Long reads of some projects keep no other waiting: the system shares the processors among all that run. */
  #hasRoom(read: Read): boolean {
    const { running, patienceMs, mostRunning, crowdedSearchMs } = this.#limits;
    if (this.#running.length < running) return true;
    const now = performance.now();
    if (now - read.since < patienceMs) return false;
    if (this.#running.length < mostRunning) return true;
    const longest = this.#running
      .filter(({ order, since }) => order.kind === 'search' && now - since >= crowdedSearchMs)
      .reduce<Read | null>((best, other) => (best === null || other.since < best.since ? other : best), null);
    longest?.giveUp(crowded());
    return false;
  }

  #startLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = null;
      this.#startWaiting();
    }, this.#limits.patienceMs).unref();
  }

  async #run(read: Read): Promise<void> {
    const { order, resolve, giveUp } = read;
    const { longestSearchMs } = this.#limits;
    const reader = this.#idle.pop() ?? this.#newProcess();
    read.reader = reader;
    read.since = performance.now();
    const timer =
      order.kind === 'search'
        ? setTimeout(() => giveUp(tooLong(order.filter.terms, longestSearchMs)), longestSearchMs)
        : undefined;
    try {
      resolve(await reader.ask(order));
    } catch (error) {
      // What the process has answered with does not end it.
      read.reader = null;
      giveUp(error);
    }
    clearTimeout(timer);
    if (reader.isOver) await reader.end();
    else this.#idle.push(reader);
    this.#running = this.#running.filter((other) => other !== read);
    this.#startWaiting();
  }

  #newProcess(): StoreProcess {
    return new StoreProcess(this.#file, this.#place);
  }
}

function crowded(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'Too many searches run, and this one lasted longest.', {
    hint: 'Try again in a moment, with longer or rarer words. The beginning of many words costs most.',
    retryAfter: 5,
  });
}
