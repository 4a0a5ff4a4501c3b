// Searches outside the event loop, for a store that is served. FTS5 reads every word with the beginning that is searched for before it gives
// a row, and takes in a message as a whole: both can last for seconds, and nothing can interrupt them.
import { ParleyError } from '../../service/errors.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import type { SearchFilter, SearchTerm } from '../session-store.ts';
import type { SearchPlace } from './search-thread.ts';
import { StoreThread } from './store-thread.ts';

/** Each for another project: the searches of one project wait for each other. */
const mostSearching = 4;
const longestSearchMs = 60_000;

interface Search {
  readonly projectId: string;
  readonly filter: SearchFilter;
  thread: StoreThread | null;
  readonly resolve: (page: SearchPage) => void;
  /** The search rejects at once. Its thread is ended; its project gets another when that has happened. */
  readonly giveUp: (error: unknown) => void;
}

export class SearchThreads {
  readonly #file: URL;
  readonly #place: SearchPlace;
  #waiting: Search[] = [];
  #running: Search[] = [];
  #idle: StoreThread[] = [];
  #indexing: StoreThread | null = null;
  #closed: Error | null = null;

  /** The file is what the build makes of search-thread.ts. */
  constructor(file: URL, place: SearchPlace) {
    this.#file = file;
    this.#place = place;
  }

  /** Rejects with the signal's reason once that fires. */
  search(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#closed !== null) throw this.#closed;
      const onAbort = () => search.giveUp(signal.reason);
      const search: Search = {
        projectId,
        filter,
        thread: null,
        resolve: (page) => {
          signal.removeEventListener('abort', onAbort);
          resolve(page);
        },
        giveUp: (error) => {
          signal.removeEventListener('abort', onAbort);
          this.#waiting = this.#waiting.filter((other) => other !== search);
          reject(error);
          void search.thread?.end();
        },
      };
      signal.addEventListener('abort', onAbort);
      this.#waiting.push(search);
      this.#startWaiting();
    });
  }

  /** Takes some messages into the indexes, in a transaction. How far it came, or null where nothing was left. */
  async indexStep(): Promise<number | null> {
    if (this.#closed !== null) throw this.#closed;
    if (this.#indexing === null || this.#indexing.isOver) this.#indexing = this.#newThread();
    return (await this.#indexing.ask(null)) as number | null;
  }

  /** Rejects every search with the failure. */
  async close(failure: Error): Promise<void> {
    this.#closed = failure;
    for (const search of [...this.#waiting, ...this.#running]) search.giveUp(failure);
    const running = this.#running.map(({ thread }) => thread);
    await Promise.all([...running, ...this.#idle, this.#indexing].map((thread) => thread?.end()));
  }

  /** Of the projects without a running search, the search that has waited longest. */
  #startWaiting(): void {
    while (this.#closed === null && this.#running.length < mostSearching) {
      const next = this.#waiting.find(({ projectId }) =>
        this.#running.every((running) => running.projectId !== projectId),
      );
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((search) => search !== next);
      this.#running.push(next);
      void this.#run(next);
    }
  }

  async #run(search: Search): Promise<void> {
    const { projectId, filter, resolve, giveUp } = search;
    const thread = this.#idle.pop() ?? this.#newThread();
    search.thread = thread;
    const timer = setTimeout(() => giveUp(tooLong(filter.terms)), longestSearchMs);
    try {
      resolve((await thread.ask({ projectId, filter })) as SearchPage);
      this.#idle.push(thread);
    } catch (error) {
      giveUp(error);
      await thread.end();
    } finally {
      clearTimeout(timer);
      this.#running = this.#running.filter((other) => other !== search);
      this.#startWaiting();
    }
  }

  #newThread(): StoreThread {
    return new StoreThread(this.#file, this.#place);
  }
}

function tooLong(terms: readonly SearchTerm[]): ParleyError {
  const words = terms.map(({ text, prefix }) => JSON.stringify(prefix ? `${text}*` : text));
  const problem = `lasts longer than ${longestSearchMs / 1000} s: ${words.join(' ')}`;
  return new ParleyError('INVALID_REQUEST', `The query ${problem}.`, {
    hint: 'Use longer or rarer words. The beginning of many words costs most.',
    details: [{ field: 'q', problem }],
  });
}
