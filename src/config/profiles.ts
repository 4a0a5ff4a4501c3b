// Pure changes of the profiles in the stored configuration, for `ProfileFile.update`.
import { ParleyError } from '../service/errors.ts';
import { quoted } from '../service/quoted.ts';
import { emptyProfile, type StoredConfig, type StoredProfile } from './stored-config.ts';

/** The built-in profile: the embedded service. It exists even when nothing is stored. */
export const localProfile = 'local';

export interface NamedProfile extends StoredProfile {
  readonly name: string;
  readonly isCurrent: boolean;
}

/** 1 to 64 of `A-Z a-z 0-9 . _ -`, the first neither `.` nor `-`. */
export function isProfileName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(name);
}

export function findProfile(config: StoredConfig, name: string): StoredProfile | null {
  const stored = Object.hasOwn(config.profiles, name) ? (config.profiles[name] ?? null) : null;
  if (name !== localProfile) return stored;
  return { ...(stored ?? emptyProfile), url: null, key: null };
}

/** `local` first, then the others by name. */
export function listProfiles(config: StoredConfig): readonly NamedProfile[] {
  const current = config.current ?? localProfile;
  return profileNames(config).map((name) => ({
    ...(findProfile(config, name) ?? emptyProfile),
    name,
    isCurrent: name === current,
  }));
}

export function useProfile(config: StoredConfig, name: string): StoredConfig {
  requireProfile(config, name, null);
  return { ...config, current: name };
}

/** Throws `USAGE` for a name that the profile of a server cannot have. */
export function requireServerName(name: string): void {
  if (!isProfileName(name)) {
    throw new ParleyError('USAGE', `${quoted(name)} is not a valid profile name.`, {
      hint: 'Use 1 to 64 letters, digits, dots, hyphens and underscores, beginning with a letter, a digit or an underscore.',
    });
  }
  if (name === localProfile) {
    throw new ParleyError('USAGE', 'The profile local is the embedded service and takes no URL.', {
      remedy: { kind: 'name_another_profile' },
    });
  }
}

/** Adds or replaces a profile. Fields that this version does not know are kept. */
export function putProfile(config: StoredConfig, name: string, profile: StoredProfile): StoredConfig {
  if (name !== localProfile || profile.url !== null || profile.key !== null) requireServerName(name);
  return withProfile(config, name, { ...findProfile(config, name), ...profile });
}

export function removeProfile(config: StoredConfig, name: string): StoredConfig {
  if (name === localProfile) {
    throw new ParleyError('USAGE', 'The profile local is built in and cannot be removed.', {
      hint: 'Only profiles that were added can be removed.',
    });
  }
  requireProfile(config, name, null);
  const remaining = Object.entries(config.profiles).filter(([other]) => other !== name);
  return {
    ...config,
    current: config.current === name ? null : config.current,
    profiles: Object.fromEntries(remaining),
  };
}

/** Stores the key of an embedded store, by its data directory. */
export function putStoreKey(config: StoredConfig, name: string, dataDirectory: string, key: string) {
  const profile = requireProfile(config, name, null);
  return withProfile(config, name, { ...profile, keys: { ...profile.keys, [dataDirectory]: key } });
}

/** Stores the key of another store in the same directory. The key of the earlier store is kept, because that store may come back. */
export function putOtherStoreKey(config: StoredConfig, name: string, dataDirectory: string, key: string) {
  const before = storeKey(config, name, dataDirectory);
  const changed = putStoreKey(config, name, dataDirectory, key);
  const profile = requireProfile(changed, name, null);
  const former = [before, ...formerStoreKeys(config, name, dataDirectory)];
  const remaining = former.filter((other): other is string => other !== null && other !== key);
  return withProfile(changed, name, {
    ...profile,
    former_keys: { ...profile.former_keys, [dataDirectory]: remaining },
  });
}

/** Null if the profile has no key for a store in that directory. */
export function storeKey(config: StoredConfig, name: string, dataDirectory: string): string | null {
  const { keys } = requireProfile(config, name, null);
  return Object.hasOwn(keys, dataDirectory) ? (keys[dataDirectory] ?? null) : null;
}

/** The keys of earlier stores in that directory, the newest first. */
export function formerStoreKeys(
  config: StoredConfig,
  name: string,
  dataDirectory: string,
): readonly string[] {
  const { former_keys } = findProfile(config, name) ?? emptyProfile;
  return Object.hasOwn(former_keys, dataDirectory) ? (former_keys[dataDirectory] ?? []) : [];
}

/** The name of a profile with a key for a store in that directory. Null if there is none. */
export function profileOfStore(config: StoredConfig, dataDirectory: string): string | null {
  return profileNames(config).find((name) => storeKey(config, name, dataDirectory) !== null) ?? null;
}

/** Throws `CONFIG` if there is no profile with that name. `source` says where the name came from. Null for an argument of the command. */
export function requireProfile(config: StoredConfig, name: string, source: string | null): StoredProfile {
  const profile = findProfile(config, name);
  if (profile !== null) return profile;
  const origin = source === null ? '' : ` (named by ${source})`;
  throw new ParleyError('CONFIG', `There is no profile ${quoted(name)}${origin}.`, {
    hint: `Profiles: ${profileNames(config).join(', ')}.`,
    remedy: { kind: 'make_profile' },
  });
}

function profileNames(config: StoredConfig): readonly string[] {
  const stored = Object.keys(config.profiles).filter((name) => name !== localProfile);
  return [localProfile, ...stored.sort()];
}

/** A computed name in an object literal is defined, not assigned, so that `__proto__` is a field like any other. */
function withProfile(config: StoredConfig, name: string, profile: StoredProfile): StoredConfig {
  return { ...config, profiles: { ...config.profiles, [name]: profile } };
}
