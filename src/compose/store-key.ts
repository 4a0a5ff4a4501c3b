// Finds the key of a profile for an embedded store. The key is created at the first use, stays in the profile while its store is missing, and
// is never used for another store.
import { existsSync, readdirSync } from 'node:fs';
import { formerStoreKeys, localProfile, putOtherStoreKey, storeKey } from '../config/profiles.ts';
import type { Target } from '../config/settings.ts';
import type { StoredConfig } from '../config/stored-config.ts';
import { hashKey } from '../local/api-keys.ts';
import type { EmbeddedBackend } from '../service/backend.ts';
import type { BackendOptions } from '../service/backend-opening.ts';
import { ParleyError } from '../service/errors.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { Dependencies } from './dependencies.ts';

export interface OpenedLocalStore {
  readonly backend: EmbeddedBackend;
  readonly store: SessionStore;
  readonly isNew: boolean;
  /** The configuration as it was before the store was opened. */
  readonly config: StoredConfig;
}

/**
 * Throws `STORE_MISSING` if the profile has a key for a store but the directory has no store, for example because its disk is not mounted. A
 * new store there would look like the loss of all sessions.
 */
export function refuseMissingStore(profile: string | null, exists: boolean, dataDirectory: string): void {
  if (profile === null || exists) return;
  throw new ParleyError(
    'STORE_MISSING',
    `The store of profile ${profile} is not in ${dataDirectory}, where it was: ${directoryContent(dataDirectory)}.`,
    {
      hint: 'Nothing was created or changed. Mount its disk; if it was moved, set PARLEY_DATA_DIR to its directory.',
      remedy: { kind: 'restore_store' },
    },
  );
}

/** The same for a store in PostgreSQL without data: its tables were dropped, or the address names another database. */
export function refuseEmptiedStore(profile: string | null, hasData: boolean, storeName: string): void {
  if (profile === null || hasData) return;
  throw new ParleyError('STORE_MISSING', `The store of profile ${profile} in ${storeName} is empty.`, {
    hint: 'Nothing was overwritten. Restore its tables, or correct the address.',
  });
}

function directoryContent(directory: string): string {
  if (!existsSync(directory)) return 'there is no such directory';
  return readdirSync(directory).length === 0 ? 'the directory is empty' : 'there is no store in it';
}

/**
 * The key of this store. The first use creates a project `default` and a key, and stores the key in the profile. Of several processes at the
 * same time, the first one to lock the configuration does so, and the others use its key.
 */
export async function keyOf(
  target: Target,
  opened: OpenedLocalStore,
  dependencies: Dependencies,
  { say }: Pick<BackendOptions, 'say'>,
): Promise<string> {
  const { backend, isNew } = opened;
  const { profileFile } = dependencies;
  const { storeName } = target;
  const fromVariable = target.sources.key === 'PARLEY_API_KEY';
  const profile = target.profile ?? localProfile;
  if (target.key !== null && fromVariable) return target.key;
  if (target.key !== null && !isNew)
    return keyOfExistingStore(target.key, profile, storeName, opened, dependencies);
  // `createdId` stays null if another process has created the key.
  const first: { key: string; createdId: string | null } = { key: '', createdId: null };
  const update = profileFile.update(async (config) => {
    const stored = storeKey(config, profile, storeName);
    if (stored !== null && stored !== target.key) {
      first.key = stored;
      return config;
    }
    const created = await backend.administration.createKey({ project_name: 'default', key_name: profile });
    first.key = created.key;
    first.createdId = created.key_id;
    return putOtherStoreKey(config, profile, storeName, created.key);
  });
  await update.catch(async (error: unknown) => {
    const { key, createdId } = first;
    // With a faulty disk, the update may fail after the key was stored. The key is revoked only if it is certainly not stored.
    if (createdId !== null && !mayBeStored(key, profile, storeName, dependencies))
      await backend.administration.revokeKey(createdId);
    throw error;
  });
  if (first.createdId === null) return first.key;
  await say(
    isNew
      ? `Created a store in ${storeName}, with a project "default" and a key (profile ${profile}).`
      : `Created a key for the store in ${storeName}, project "default" (profile ${profile}).`,
  );
  return first.key;
}

/** The key of the store in the directory. This may be an earlier store that was restored. */
async function keyOfExistingStore(
  key: string,
  profile: string,
  storeName: string,
  { store, config }: OpenedLocalStore,
  { profileFile }: Dependencies,
): Promise<string> {
  const former = formerStoreKeys(config, profile, storeName);
  if (former.length === 0 || (await store.findKey(hashKey(key))) !== null) return key;
  for (const other of former) {
    if ((await store.findKey(hashKey(other))) === null) continue;
    await profileFile.update((config) => putOtherStoreKey(config, profile, storeName, other));
    return other;
  }
  return key;
}

function mayBeStored(
  key: string,
  profile: string,
  storeName: string,
  { profileFile }: Dependencies,
): boolean {
  try {
    return storeKey(profileFile.read(), profile, storeName) === key;
  } catch {
    return true;
  }
}
