// The type of the stored configuration, and its parser. Unknown fields are kept, so that an older version of Parley removes nothing that a
// newer one has stored. profile-file.ts reads and writes the file.

export interface StoredConfig {
  /** The profile that is used if none is named. Null for the built-in profile. */
  readonly current: string | null;
  readonly profiles: Readonly<Record<string, StoredProfile>>;
  /** The modes that the user has set up. Each is checked when it is used. */
  readonly modes: Readonly<Record<string, unknown>>;
  /** The mode that is used if none is named. Null for the built-in default. */
  readonly default_mode: string | null;
}

/** The modes among the stored configuration, or those of a store that keeps its own. */
export type StoredModes = Pick<StoredConfig, 'modes' | 'default_mode'>;

export interface StoredProfile {
  /** Null for the embedded service. */
  readonly url: string | null;
  /** The key for that URL. */
  readonly key: string | null;
  /** The keys of embedded stores by data directory. A store in another directory has a key of its own. */
  readonly keys: Readonly<Record<string, string>>;
  /** The keys of earlier stores by data directory. Such a store may come back, for example when its disk is mounted again. */
  readonly former_keys: Readonly<Record<string, readonly string[]>>;
  readonly mode: string | null;
  readonly insecure_http: boolean;
  /** The address of a store in PostgreSQL; null for the store in the data directory. */
  readonly store: string | null;
  readonly insecure_store: boolean;
  /** A JSON Pointer to the reply in another server's response to a chat. */
  readonly reply_pointer: string | null;
  /** The extensions that the server offered at login; null if unknown. */
  readonly extensions: readonly string[] | null;
}

export const emptyProfile: StoredProfile = {
  url: null,
  key: null,
  keys: {},
  former_keys: {},
  mode: null,
  insecure_http: false,
  store: null,
  insecure_store: false,
  reply_pointer: null,
  extensions: null,
};

export const emptyConfig: StoredConfig = {
  current: null,
  profiles: {},
  modes: {},
  default_mode: null,
};

type Fields = Readonly<Record<string, unknown>>;

/** Throws a `TypeError` that names the first field with a wrong value, and never the value. */
export function readStoredConfig(value: unknown): StoredConfig {
  const config = fieldsOf(value, 'the file');
  return {
    ...config,
    current: textOrNull(config, 'current', ''),
    profiles: mapFields(config, 'profiles', '', readProfile),
    modes: fieldsOf(config['modes'] ?? {}, 'modes'),
    default_mode: textOrNull(config, 'default_mode', ''),
  };
}

function readProfile(value: unknown, place: string): StoredProfile {
  const profile = fieldsOf(value, place);
  const at = `${place}.`;
  return {
    ...profile,
    url: textOrNull(profile, 'url', at),
    key: textOrNull(profile, 'key', at),
    keys: mapFields(profile, 'keys', at, text),
    former_keys: mapFields(profile, 'former_keys', at, texts),
    mode: textOrNull(profile, 'mode', at),
    insecure_http: flag(profile, 'insecure_http', at),
    store: textOrNull(profile, 'store', at),
    insecure_store: flag(profile, 'insecure_store', at),
    reply_pointer: textOrNull(profile, 'reply_pointer', at),
    extensions: textsOrNull(profile, 'extensions', at),
  };
}

/** `Object.fromEntries` defines its entries, so that `__proto__` is a field like any other. */
function mapFields<T>(fields: Fields, name: string, at: string, read: (value: unknown, place: string) => T) {
  const entries = Object.entries(fieldsOf(fields[name] ?? {}, at + name));
  return Object.fromEntries(entries.map(([key, value]) => [key, read(value, `${at + name}.${key}`)]));
}

function fieldsOf(value: unknown, place: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new TypeError(`${place} is not an object`);
}

function text(value: unknown, place: string): string {
  if (typeof value === 'string') return value;
  throw new TypeError(`${place} is not a text`);
}

function textOrNull(fields: Fields, name: string, at: string): string | null {
  const value = fields[name] ?? null;
  return value === null ? null : text(value, at + name);
}

function textsOrNull(fields: Fields, name: string, at: string): readonly string[] | null {
  const value = fields[name] ?? null;
  return value === null ? null : texts(value, at + name);
}

function texts(value: unknown, place: string): readonly string[] {
  if (!Array.isArray(value)) throw new TypeError(`${place} is not a list`);
  return value.map((item, index) => text(item, `${place}[${index}]`));
}

function flag(fields: Fields, name: string, at: string): boolean {
  const value = fields[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new TypeError(`${at + name} must be true or false`);
}
