// Opens the modes that a store is answered with, for those who set them up. A store in PostgreSQL keeps its own.
import { type ModePlace, modesInFile } from '../config/mode-place.ts';
import type { StoreAddress } from '../config/store-address.ts';
import type { Dependencies } from './dependencies.ts';

/** `store`: null for SQLite. */
export async function openModes(store: StoreAddress | null, dependencies: Dependencies): Promise<ModePlace> {
  if (store === null) return modesInFile(dependencies.profileFile);
  const { openModesOfPostgres } = await import('./postgres-choice.ts');
  return openModesOfPostgres(store, dependencies);
}
