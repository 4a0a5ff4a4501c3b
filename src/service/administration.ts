// The contract of administration: what only the owner of a store may do. It is not part of the interface document. These operations take no
// key, so they are never offered over HTTP, and a backend that is a server elsewhere has no administration.

/** A key as a listing shows it: never the key itself. */
export interface KeyRecord {
  readonly key_id: string;
  readonly key_name: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly created_at: string;
  /** ISO 8601; null while the key is valid. */
  readonly revoked_at: string | null;
}

/** A key that was just created. */
export interface CreatedKey extends KeyRecord {
  /** The key itself. It is shown this once: the store keeps its SHA-256 alone. */
  readonly key: string;
}

export interface CreateKeyRequest {
  /** The project that the key is bound to. It is created if there is none of that name. */
  readonly project_name: string;
  readonly key_name: string;
}

/** A fact that a store tells in its own words, for people and for logs. No decision depends on it. */
export interface StoreFact {
  /** For example `SQLite` or `free_pages`. */
  readonly name: string;
  readonly value: string | number;
}

/** What the store is, for a person who looks for a fault. */
export interface StoreReport {
  /** A path, or an address without a password. */
  readonly place: string;
  /** Bytes that the store takes there. */
  readonly bytes: number;
  /** Bytes that may still be written there; null if the store cannot tell. */
  readonly free_bytes: number | null;
  readonly schema_version: number;
  /** The software of the store, and how it makes commits durable. */
  readonly facts: readonly StoreFact[];
  /** `ok`, or what the check of the store found. */
  readonly integrity: string;
}

/** Which deleted sessions are erased. */
export interface PurgeRequest {
  /** The project whose sessions are erased; null for all projects. */
  readonly project_id: string | null;
  /** ISO 8601. Sessions that were deleted strictly before this time are erased. */
  readonly deleted_before: string;
}

/** What a purge would erase. */
export interface PurgePlan {
  readonly sessions: number;
  readonly messages: number;
  /** Bytes of the messages' texts. */
  readonly text_bytes: number;
  /** Paths of the copies of the store that Parley made beside it. They hold the same texts, so the purge removes them too. */
  readonly backups: readonly string[];
  /** True when an earlier purge was stopped after it had deleted the rows and before it had overwritten their bytes. */
  readonly unfinished: boolean;
}

/** What a purge has erased, and what the store is after it. */
export interface PurgeReport {
  readonly sessions: number;
  readonly messages: number;
  /** How many stored answers to repeated requests were erased: those that told of these sessions, and those that are too old to be used. */
  readonly stored_answers: number;
  readonly backups_removed: readonly string[];
  /** Bytes that the store took before the purge, and that it takes after it. */
  readonly bytes_before: number;
  readonly bytes: number;
  /** What shows, in the words of the store, that no erased byte is left. */
  readonly facts: readonly StoreFact[];
  /** `ok`, or what the check of the store found. */
  readonly integrity: string;
}

export interface UsageQuery {
  /** ISO 8601. Replies from this time on are counted; null counts all. */
  readonly since: string | null;
  readonly by: 'mode' | 'session' | 'day';
}

/** What the replies of one mode, one session or one day (UTC) took. */
export interface UsageRecord {
  /** The mode, the session's id, or the day as `2026-01-31`. */
  readonly group: string;
  readonly turns: number;
  /** How many of the turns ended in an error. */
  readonly failed: number;
  /** Sums of the tokens that the engines counted. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** How many turns have no count of tokens: those that failed, and those of engines that do not count. */
  readonly uncounted: number;
  /** The mean time to the first chunk of a reply, in ms; null if no reply had one. */
  readonly first_token_ms: number | null;
}

/** The operations on a store that need no key. All of them reject with a {@link ParleyError}. */
export interface Administration {
  /** Counts the replies of all projects. The largest group comes first; days come in their order. */
  usage(query: UsageQuery): Promise<readonly UsageRecord[]>;

  /**
   * Creates a key, and its project if there is none of that name. Rejects with `INVALID_REQUEST` for a name that is empty, longer than 200
   * characters (code points), or holds control characters.
   */
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;

  /** All keys of all projects, revoked ones too, the oldest first. */
  listKeys(): Promise<readonly KeyRecord[]>;

  /**
   * Revokes a key. The next request of every process is refused. Revoking twice changes nothing. Rejects with `NOT_FOUND` for an id that
   * names no key.
   */
  revokeKey(keyId: string): Promise<KeyRecord>;

  /** Tells what the store is, and whether it is whole. The check reads the whole file: a large store takes seconds. */
  inspectStore(): Promise<StoreReport>;

  /** Counts what a purge would erase, and erases nothing. */
  planPurge(request: PurgeRequest): Promise<PurgePlan>;

  /**
   * Erases deleted sessions for good, with every byte of them in the store's files and its backups. A session whose reply still runs is
   * left. Rejects with `INVALID_REQUEST` if the sessions are not as many as expected; then nothing was erased. Rejects with `STORE_BUSY`
   * while another process reads; the caller then asks again until it resolves.
   */
  purgeSessions(request: PurgeRequest & { readonly expected_sessions: number }): Promise<PurgeReport>;

  /** Whether the store has any of these sessions of a project: active, or deleted and not erased. */
  holdsAny(project_id: string, session_ids: readonly string[]): Promise<boolean>;
}
