// Opens the place that keeps the modes of a store, to change them. A store in PostgreSQL keeps its own modes.
import { type ModePlace, modesInFile } from '../config/mode-place.ts';
import type { StoreAddress } from '../config/store-address.ts';
import type { Dependencies } from './dependencies.ts';

/** `store` is null for SQLite, whose modes are in this machine's configuration. */
export async function openModes(store: StoreAddress | null, dependencies: Dependencies): Promise<ModePlace> {
  if (store === null) return modesInFile(dependencies.profileFile);
  const { openModesOfPostgres } = await import('./postgres-choice.ts');
  return openModesOfPostgres(store, dependencies);
}
