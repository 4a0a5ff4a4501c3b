// Opens the store that a target means. A start with SQLite loads nothing of PostgreSQL.
import type { Target } from '../config/settings.ts';
import type { Dependencies } from './dependencies.ts';
import { openSqlite, type SqliteChoice } from './sqlite-choice.ts';
import type { ChosenStore } from './store-choice.ts';

export interface StoreChoice extends SqliteChoice {
  /** The process serves the store to others. */
  readonly isServer: boolean;
}

/** For a command. */
export const usualChoice: StoreChoice = {
  timeout: null,
  storeProcesses: undefined,
  refusesOlder: false,
  isServer: false,
};

export async function chosenStore(
  { store }: Pick<Target, 'store'>,
  dependencies: Dependencies,
  choice: StoreChoice,
): Promise<ChosenStore> {
  if (store === null) return openSqlite(dependencies, choice);
  const { openPostgres } = await import('./postgres-choice.ts');
  return openPostgres(store, dependencies, choice);
}
