// The key that a profile has for the store of this machine: made on first use, kept while its store is away, never given to another store.
import { existsSync, readdirSync } from 'node:fs';
import { formerStoreKeys, localProfile, putOtherStoreKey, storeKey } from '../config/profiles.ts';
import type { Target } from '../config/settings.ts';
import type { StoredConfig } from '../config/stored-config.ts';
import { hashKey } from '../local/keys.ts';
import type { EmbeddedBackend } from '../service/backend.ts';
import type { BackendOptions } from '../service/backend-opening.ts';
import { ParleyError } from '../service/errors.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { Surroundings } from './surroundings.ts';

export interface OpenedStore {
  readonly backend: EmbeddedBackend;
  readonly store: SessionStore;
  readonly isNew: boolean;
  /** As it was before the store was opened. */
  readonly config: StoredConfig;
}

/** A disk that is not mounted leaves an empty directory, or none: a new store there would hide the sessions, and look like their loss. */
export function refuseMissingStore(profile: string | null, isThere: boolean, dataDirectory: string): void {
  if (profile === null || isThere) return;
  throw new ParleyError(
    'STORE_MISSING',
    `The store of profile ${profile} is not in ${dataDirectory}, where it was: ${whatIsThere(dataDirectory)}.`,
    {
      hint: 'Nothing was made or changed. Mount its disk, or bring the store back; if it was moved, set PARLEY_DATA_DIR to where it is.',
    },
  );
}

function whatIsThere(directory: string): string {
  if (!existsSync(directory)) return 'there is no such directory';
  return readdirSync(directory).length === 0 ? 'the directory is empty' : 'there is no store in it';
}

/**
 * The key of this store. On first use there is none: then a project `default` and a key are made, and the key is kept in the
 * profile. When several processes come first at once, the one whose key is kept wins, and the others' are revoked.
 */
export async function keyOf(
  target: Target,
  opened: OpenedStore,
  surroundings: Surroundings,
  { say }: Pick<BackendOptions, 'say'>,
): Promise<string> {
  const { backend, isNew } = opened;
  const { profileFile, dataDirectory } = surroundings;
  const fromVariable = target.sources.key === 'PARLEY_API_KEY';
  const profile = target.profile ?? localProfile;
  if (target.key !== null && fromVariable) return target.key;
  if (target.key !== null && !isNew) return keyOfStoreThere(target.key, profile, opened, surroundings);
  const created = await backend.administration.createKey({ project_name: 'default', key_name: profile });
  const keep = profileFile.update((config) =>
    storeKey(config, profile, dataDirectory) === target.key
      ? putOtherStoreKey(config, profile, dataDirectory, created.key)
      : config,
  );
  const kept = await keep.catch(async (error: unknown) => {
    // A failure may come after the key was kept, as of a disk: it is revoked only if nobody can ever know it.
    if (!mayBeKept(created.key, profile, surroundings))
      await backend.administration.revokeKey(created.key_id);
    throw error;
  });
  const key = storeKey(kept, profile, dataDirectory) ?? created.key;
  if (key !== created.key) {
    await backend.administration.revokeKey(created.key_id);
    return key;
  }
  await say(
    isNew
      ? `Made a store in ${dataDirectory}, with a project "default" and a key (profile ${profile}).`
      : `Made a key for the store in ${dataDirectory}, project "default" (profile ${profile}).`,
  );
  return key;
}

/** Where the store that stood here before has come back, its own key is the one in use again. */
async function keyOfStoreThere(
  key: string,
  profile: string,
  { store, config }: OpenedStore,
  { profileFile, dataDirectory }: Surroundings,
): Promise<string> {
  const former = formerStoreKeys(config, profile, dataDirectory);
  if (former.length === 0 || (await store.findKey(hashKey(key))) !== null) return key;
  for (const other of former) {
    if ((await store.findKey(hashKey(other))) === null) continue;
    await profileFile.update((config) => putOtherStoreKey(config, profile, dataDirectory, other));
    return other;
  }
  return key;
}

function mayBeKept(key: string, profile: string, { profileFile, dataDirectory }: Surroundings): boolean {
  try {
    return storeKey(profileFile.read(), profile, dataDirectory) === key;
  } catch {
    return true;
  }
}
