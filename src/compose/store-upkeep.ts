// What is done to a store as a whole: migrating it. No service and no engine is put together for it.
import { profileOfStore } from '../config/profiles.ts';
import type { Target } from '../config/settings.ts';
import type { StoreMigration } from '../service/administration.ts';
import { hasStore } from '../store/sqlite/open.ts';
import { chosenStore, usualChoice } from './chosen-store.ts';
import type { Dependencies } from './dependencies.ts';
import { refuseMissingStore } from './store-key.ts';

/** Brings the store of a target to the newest schema, and makes it where there is none. */
export async function migrateStore(
  target: Pick<Target, 'store' | 'storeName'>,
  dependencies: Dependencies,
): Promise<StoreMigration> {
  const { dataDirectory, profileFile } = dependencies;
  const knownTo = profileOfStore(profileFile.read(), target.storeName);
  if (target.store === null) refuseMissingStore(knownTo, hasStore(dataDirectory), dataDirectory);
  const { store, migration } = await chosenStore(target, dependencies, usualChoice);
  await store.close();
  return migration;
}
