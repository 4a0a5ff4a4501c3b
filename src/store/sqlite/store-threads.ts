// Long reads outside the event loop, for a store that is served: searches, and filters over many sessions. FTS5 reads every word with the
// beginning that is searched for before it gives a row, and takes in a message as a whole: that can last for seconds, uninterrupted.
import type { Session } from '../../service/session.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import { tooLong } from '../search-refusals.ts';
import type { Rows, SearchFilter, SessionFilter } from '../session-filters.ts';
import { StoreThread } from './store-thread.ts';
import type { ReadOrder, StorePlace } from './store-worker.ts';

/** Each of another project or kind: the searches of one project wait for each other, and so do its filters. */
const mostRunning = 4;
const longestSearchMs = 60_000;

interface Read {
  readonly order: ReadOrder;
  thread: StoreThread | null;
  readonly resolve: (value: unknown) => void;
  /** The read rejects at once. Its thread is ended; its project gets another when that has happened. */
  readonly giveUp: (error: unknown) => void;
}

/** Undefined where long reads run in the thread of the caller, a step at a time. */
export type ThreadsOf = ((place: StorePlace) => StoreThreads) | undefined;

export class StoreThreads {
  readonly #file: URL;
  readonly #place: StorePlace;
  #waiting: Read[] = [];
  #running: Read[] = [];
  #idle: StoreThread[] = [];
  #indexing: StoreThread | null = null;
  #closed: Error | null = null;

  /** The file is what the build makes of store-worker.ts. */
  constructor(file: URL, place: StorePlace) {
    this.#file = file;
    this.#place = place;
  }

  /** Rejects with the signal's reason once that fires. */
  search(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage> {
    return this.#read({ kind: 'search', projectId, filter }, signal) as Promise<SearchPage>;
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
        thread: null,
        resolve: (value) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(value);
        },
        giveUp: (error) => {
          signal?.removeEventListener('abort', onAbort);
          this.#waiting = this.#waiting.filter((other) => other !== read);
          reject(error);
          void read.thread?.end();
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
    if (this.#indexing === null || this.#indexing.isOver) this.#indexing = this.#newThread();
    return (await this.#indexing.ask({ kind: 'index' })) as number | null;
  }

  /** Rejects every read with the failure. */
  async close(failure: Error): Promise<void> {
    this.#closed = failure;
    for (const read of [...this.#waiting, ...this.#running]) read.giveUp(failure);
    const running = this.#running.map(({ thread }) => thread);
    await Promise.all([...running, ...this.#idle, this.#indexing].map((thread) => thread?.end()));
  }

  /** Of the reads beside which none of their project and kind runs, the one that has waited longest. */
  #startWaiting(): void {
    while (this.#closed === null && this.#running.length < mostRunning) {
      const isFree = ({ order: { kind, projectId } }: Read) =>
        !this.#running.some(({ order }) => order.kind === kind && order.projectId === projectId);
      const next = this.#waiting.find(isFree);
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((read) => read !== next);
      this.#running.push(next);
      void this.#run(next);
    }
  }

  async #run(read: Read): Promise<void> {
    const { order, resolve, giveUp } = read;
    const thread = this.#idle.pop() ?? this.#newThread();
    read.thread = thread;
    const timer =
      order.kind === 'search'
        ? setTimeout(() => giveUp(tooLong(order.filter.terms, longestSearchMs)), longestSearchMs)
        : undefined;
    try {
      resolve(await thread.ask(order));
    } catch (error) {
      // What the thread has answered with does not end it.
      read.thread = null;
      giveUp(error);
    }
    clearTimeout(timer);
    if (thread.isOver) await thread.end();
    else this.#idle.push(thread);
    this.#running = this.#running.filter((other) => other !== read);
    this.#startWaiting();
  }

  #newThread(): StoreThread {
    return new StoreThread(this.#file, this.#place);
  }
}
