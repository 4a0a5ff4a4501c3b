// Searches a store and fills its search indexes: in other processes for a served store whose program is there, otherwise in this process.
import type { Call } from '../../service/call.ts';
import type { SearchPage } from '../../service/session-archive.ts';
import type { SearchFilter } from '../session-filters.ts';
import type { StoreRules } from '../store-rules.ts';
import { searchReads } from './search.ts';
import { indexStep, SearchIndex } from './search-index.ts';
import { noRoomToIndex, storeError } from './sqlite-errors.ts';
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
    const { connection, writer, wait } = access;
    this.#index = new SearchIndex(connection, {
      step: (backlog) =>
        processes?.isAvailable
          ? writer.writeElsewhere(() => processes.indexStep(backlog))
          : writer.writeAlone(() => indexStep(connection, backlog)),
      isServed: processes !== null,
      wait,
    });
  }

  search(
    projectId: string,
    filter: SearchFilter,
    signal: AbortSignal,
    notice?: Call['notice'],
  ): Promise<SearchPage> {
    return this.#access.run(async () => {
      try {
        await this.#index.catchUp(projectId, signal, notice);
      } catch (error) {
        const failure = storeError(error, this.#access.connection.path);
        if (signal.aborted || failure.code !== 'STORAGE_FULL') throw error;
        if (!(await this.#index.isReadable(projectId))) throw noRoomToIndex(failure);
      }
      if (this.#processes?.isAvailable) return this.#processes.search(projectId, filter, signal);
      const rules = await this.#rules.loadSearch();
      return rules.search(filter, searchReads(this.#access, projectId, filter, rules));
    });
  }

  /** Starts indexing if enough messages wait. Call it after messages were written. */
  keepUp(): void {
    this.#index.keepUp();
  }

  /**
   * Starts indexing after an import, if the store is served. Another process that imports has many more sessions to store, and indexing
   * takes several times as long as storing. There the next search or the next turns index the messages.
   */
  keepUpWithImport(): void {
    if (this.#processes !== null) this.keepUp();
  }
}
