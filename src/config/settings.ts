// Resolves the server, the key and the mode of a command from options, variables and profiles, in their order of precedence. The functions
// are pure. profile-file.ts reads the stored configuration.
import { ParleyError } from '../service/errors.ts';
import { readBaseUrl } from './base-url.ts';
import { findProfile, listProfiles, localProfile, requireProfile } from './profiles.ts';
import { type PostgresVariables, readStoreAddress, type StoreAddress } from './store-address.ts';
import { emptyProfile, type StoredConfig, type StoredProfile } from './stored-config.ts';

/** An empty variable counts as unset. */
export interface SettingVariables extends PostgresVariables {
  readonly PARLEY_PROFILE?: string | undefined;
  readonly PARLEY_URL?: string | undefined;
  readonly PARLEY_STORE?: string | undefined;
  readonly PARLEY_API_KEY?: string | undefined;
  readonly PARLEY_MODE?: string | undefined;
}

/** The options of a command, its variables, and the stored configuration. */
export interface TargetRequest {
  readonly flags: {
    readonly profile: string | null;
    readonly url: string | null;
    readonly insecureHttp: boolean;
    /** The address of a store. Null for the store of the profile, or the one in the data directory. */
    readonly store: string | null;
    readonly insecureStore: boolean;
    /** What a user types for each of them, for messages. */
    readonly words: Readonly<Record<'profile' | 'url' | 'store', string>>;
  };
  readonly env: SettingVariables;
  readonly config: StoredConfig;
  /** The real path of the data directory. */
  readonly dataDirectory: string;
  /**
   * `call`: a key is required. `report`: the key may be missing. `login`: the key may be missing, and the profile may be a new one if there is
   * a URL or a store.
   */
  readonly purpose: 'call' | 'report' | 'login';
}

/** The server or store that a command uses, and its key. */
export interface Target {
  /** Null for a URL that was given without a profile. */
  readonly profile: string | null;
  /** The base URL without a slash at its end; null for the embedded service. */
  readonly url: string | null;
  /** The store of the embedded service in PostgreSQL; null for a server, and for SQLite in the data directory. */
  readonly store: StoreAddress | null;
  /** The name under which a profile stores the key of the store: the data directory, or the address without user and password. */
  readonly storeName: string;
  /** Null for an embedded store whose key does not exist yet, and for a purpose that needs no key. */
  readonly key: string | null;
  /** The mode of the profile. */
  readonly mode: string | null;
  readonly insecureHttp: boolean;
  readonly replyPointer: string | null;
  readonly extensions: readonly string[] | null;
  /** A stable text that identifies the server or the store. */
  readonly origin: string;
  /** Where each value came from, in words for people. */
  readonly sources: { readonly profile: string | null; readonly url: string; readonly key: string | null };
}

export function resolveTarget(request: TargetRequest): Target {
  const { flags, env } = request;
  const isUrlInUse = flags.url !== null || (flags.profile === null && Boolean(env.PARLEY_URL));
  if (flags.store !== null && isUrlInUse) throw storeOfServer();
  if (flags.profile !== null) {
    if (flags.url === null) return targetOfProfile(request, flags.profile, flags.words.profile, null);
    if (request.purpose === 'login') return targetOfUrl(request, flags.url, flags.words.url, flags.profile);
    throw new ParleyError('USAGE', 'A profile and a URL cannot be used together.', {
      remedy: { kind: 'choose_profile_or_url' },
    });
  }
  if (flags.url !== null) return targetOfUrl(request, flags.url, flags.words.url, null);
  if (env.PARLEY_URL) return targetOfUrl(request, env.PARLEY_URL, 'PARLEY_URL', null);
  const key = env.PARLEY_API_KEY || null;
  if (env.PARLEY_PROFILE) return targetOfProfile(request, env.PARLEY_PROFILE, 'PARLEY_PROFILE', key);
  const { current } = request.config;
  if (current !== null) return targetOfProfile(request, current, 'the current profile', key);
  return targetOfProfile(request, localProfile, 'the built-in default', key);
}

/** The requested mode. Null if the service decides (its default, or its only mode). */
export function resolveMode(
  flag: string | null,
  env: SettingVariables,
  target: Target,
): { readonly mode: string; readonly source: string } | null {
  if (flag === '')
    throw new ParleyError('USAGE', 'The name of the mode is empty.', {
      remedy: { kind: 'name_mode' },
    });
  if (flag !== null) return { mode: flag, source: 'the option mode' };
  if (env.PARLEY_MODE) return { mode: env.PARLEY_MODE, source: 'PARLEY_MODE' };
  if (target.mode) return { mode: target.mode, source: `profile ${target.profile}` };
  return null;
}

/** A stored key is never sent to a URL that was given without a profile, even if a profile has the same URL. */
function targetOfUrl(request: TargetRequest, text: string, source: string, profile: string | null): Target {
  const { insecureHttp } = request.flags;
  const url = readBaseUrl(text, source, { insecureHttp });
  const key = profile === null ? readKey(request.env.PARLEY_API_KEY || null, 'PARLEY_API_KEY') : null;
  if (key === null && request.purpose === 'call') {
    const known = listProfiles(request.config).find((each) => each.url === url && each.key !== null);
    throw new ParleyError('NO_API_KEY', `There is no key for the URL of ${source}.`, {
      remedy:
        known === undefined
          ? { kind: 'log_in', profile: null }
          : { kind: 'use_profile', profile: known.name },
    });
  }
  return {
    profile,
    url,
    store: null,
    storeName: request.dataDirectory,
    key,
    mode: null,
    insecureHttp,
    replyPointer: null,
    extensions: null,
    origin: url,
    sources: {
      profile: profile === null ? null : request.flags.words.profile,
      url: source,
      key: key === null ? null : 'PARLEY_API_KEY',
    },
  };
}

function targetOfProfile(
  request: TargetRequest,
  name: string,
  source: string,
  keyOfVariable: string | null,
): Target {
  const isNew = request.purpose === 'login' && request.flags.store !== null;
  const known = isNew ? (findProfile(request.config, name) ?? emptyProfile) : null;
  const profile = known ?? requireProfile(request.config, name, source);
  const profileWords = `profile ${name}`;
  const insecureHttp = request.flags.insecureHttp || profile.insecure_http;
  const url = profile.url === null ? null : readBaseUrl(profile.url, profileWords, { insecureHttp });
  if (url !== null && request.flags.store !== null) throw storeOfServer();
  const store = url === null ? readStore(request, profile, profileWords) : null;
  const storeName = store?.name ?? request.dataDirectory;
  const keySource = keyOfVariable === null ? profileWords : 'PARLEY_API_KEY';
  const key = readKey(keyOfVariable ?? storedKey(profile, storeName), keySource);
  if (key === null && url !== null && request.purpose === 'call') {
    throw new ParleyError('NO_API_KEY', `The profile ${name} has no key.`, {
      remedy: { kind: 'log_in', profile: name },
    });
  }
  return {
    profile: name,
    url,
    store,
    storeName,
    key,
    mode: profile.mode,
    insecureHttp,
    replyPointer: profile.reply_pointer,
    extensions: profile.extensions,
    origin: url ?? (store === null ? `embedded:${storeName}` : storeName),
    sources: { profile: source, url: profileWords, key: key === null ? null : keySource },
  };
}

function storedKey(profile: StoredProfile, storeName: string): string | null {
  if (profile.url !== null) return profile.key;
  return Object.hasOwn(profile.keys, storeName) ? (profile.keys[storeName] ?? null) : null;
}

function readStore(
  { flags, env }: TargetRequest,
  profile: StoredProfile,
  profileWords: string,
): StoreAddress | null {
  const isInsecureAllowed = flags.insecureStore || profile.insecure_store;
  if (flags.store !== null) {
    const options = { source: flags.words.store, env, isInsecureAllowed, mayHoldPassword: false };
    return readStoreAddress(flags.store, options);
  }
  const [text, source] = env.PARLEY_STORE
    ? [env.PARLEY_STORE, 'PARLEY_STORE']
    : [profile.store, profileWords];
  if (text === null) return null;
  return readStoreAddress(text, { source, env, isInsecureAllowed, mayHoldPassword: true });
}

function storeOfServer(): ParleyError {
  return new ParleyError('USAGE', 'A store and a server cannot be used together.', {
    remedy: { kind: 'choose_store_or_url' },
  });
}

function readKey(key: string | null, source: string): string | null {
  if (key === null || /^[\x21-\x7e]+$/.test(key)) return key;
  throw new ParleyError('CONFIG', `The key of ${source} contains invalid characters.`, {
    hint: 'Set it again, without spaces, newlines or quotation marks around it.',
  });
}
