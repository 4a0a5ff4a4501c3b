// How a store is searched: in this process, once the indexes hold all that there is; or, where it is served, in a process of its own, which
// looks through what the indexes lack.
import type { SearchPage } from '../../service/session-archive.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { StoreRules } from '../store-rules.ts';
import { whenUnlocked } from './lock-wait.ts';
import { searchReads } from './search.ts';
import { indexStep, SearchIndex } from './search-index.ts';
import { searchFailure } from './sqlite-errors.ts';
import type { StoreAccess } from './store-access.ts';
import type { StoreProcesses } from './store-processes.ts';

export class StoreSearch {
  readonly #access: StoreAccess;
  readonly #processes: StoreProcesses | null;
  readonly #rules: StoreRules;
  readonly #index: SearchIndex;

  constructor(access: StoreAccess, processes: StoreProcesses | null, rules: StoreRules) {
    this.#access = access;
    this.#processes = processes;
    this.#rules = rules;
    const { connection, writer } = access;
    this.#index = processes
      ? new SearchIndex(
          connection,
          () => writer.writeElsewhere(() => processes.indexStep()),
          'until all is in',
        )
      : new SearchIndex(connection, () => writer.writeAlone(() => indexStep(connection)), 'a few steps');
  }

  search(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage> {
    const search = this.#access.run(() =>
      this.#processes === null
        ? this.#searchHere(projectId, filter, signal)
        : this.#searchElsewhere(this.#processes, projectId, filter, signal),
    );
    return search.catch(searchFailure);
  }

  /** To be called after messages were written. Nobody waits for it. */
  keepUp(): void {
    this.#index.keepUp();
  }

  async #searchHere(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage> {
    await this.#catchUp(signal);
    return this.#rules.search(filter, searchReads(this.#access, projectId, filter, this.#rules));
  }

  async #searchElsewhere(
    processes: StoreProcesses,
    projectId: string,
    filter: SearchFilter,
    signal: AbortSignal,
  ): Promise<SearchPage> {
    for (;;) {
      const page = await processes.search(projectId, filter, signal);
      // The next search need not look through the same again.
      this.#index.keepUp(1);
      if (page !== null) return page;
      await this.#catchUp(signal);
    }
  }

  #catchUp(signal: AbortSignal): Promise<void> {
    return this.#index.catchUp((ask) => whenUnlocked(ask, this.#access.wait), signal);
  }
}
