// Opens the store that a target names. A start with SQLite loads no code for PostgreSQL.
import type { Target } from '../config/settings.ts';
import type { ChosenStore } from './chosen-store.ts';
import type { Dependencies } from './dependencies.ts';
import { openSqlite, type SqliteChoice } from './sqlite-choice.ts';

export interface StoreChoice extends SqliteChoice {
  /** True for a process that serves the store to clients. */
  readonly isServer: boolean;
}

/** The choice of all commands except `serve`. */
export const defaultChoice: StoreChoice = {
  timeout: null,
  storeProcesses: undefined,
  refusesOlder: false,
  isServer: false,
  say: null,
};

/** Rejects if the store cannot be opened, with `STORE_UNSAFE`, `STORE_NEWER`, `STORE_OLDER`, `STORAGE_FULL`, `CONFIG`, `UNAVAILABLE`. */
export async function openChosenStore(
  { store }: Pick<Target, 'store'>,
  dependencies: Dependencies,
  choice: StoreChoice,
): Promise<ChosenStore> {
  if (store === null) return openSqlite(dependencies, choice);
  const { openPostgres } = await import('./postgres-choice.ts');
  return openPostgres(store, dependencies, choice);
}
