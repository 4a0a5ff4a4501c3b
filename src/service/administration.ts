// What only the owner of a store may do: it has no key to check, so it is never offered over HTTP. A backend that is a server
// elsewhere has no administration.

export interface KeyRecord {
  readonly key_id: string;
  readonly key_name: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly created_at: string;
  /** Null while the key is valid. */
  readonly revoked_at: string | null;
}

export interface CreatedKey extends KeyRecord {
  /** The key itself: shown this once, kept nowhere; the store holds its SHA-256 alone. */
  readonly key: string;
}

export interface CreateKeyRequest {
  /** The project that the key is bound to, made if there is none of that name. */
  readonly project_name: string;
  readonly key_name: string;
}

/** What a store tells of itself in its own words, for people and for logs: no decision depends on it. */
export interface StoreFact {
  /** `SQLite`, `free_pages`. */
  readonly name: string;
  readonly value: string | number;
}

export interface StoreReport {
  /** Where it is: a path, or an address without a password. */
  readonly place: string;
  /** What it takes there. */
  readonly bytes: number;
  /** What may still be written there; null where the store cannot tell. */
  readonly free_bytes: number | null;
  readonly schema_version: number;
  /** What keeps it, and how its commits are made durable. */
  readonly facts: readonly StoreFact[];
  /** `ok`, or what the store's own check found. */
  readonly integrity: string;
}

/** Which deleted sessions are erased. */
export interface PurgeRequest {
  /** Null for those of all projects. */
  readonly project_id: string | null;
  /** Deleted strictly before this ISO 8601 time. */
  readonly deleted_before: string;
}

export interface PurgePlan {
  readonly sessions: number;
  readonly messages: number;
  /** Bytes of their messages' texts. */
  readonly text_bytes: number;
  /** Copies of the store that Parley itself keeps: they hold the same texts, and go as well. */
  readonly backups: readonly string[];
  /** True when an earlier purge was stopped after its rows were gone and before their bytes were. */
  readonly unfinished: boolean;
}

export interface PurgeReport {
  readonly sessions: number;
  readonly messages: number;
  /** Stored answers to repeated requests that told of these sessions, or are too old to be used. */
  readonly stored_answers: number;
  readonly backups_removed: readonly string[];
  /** What the store took, and takes afterwards. */
  readonly bytes_before: number;
  readonly bytes: number;
  /** What shows that no erased byte is left, as this store can tell it. */
  readonly facts: readonly StoreFact[];
  /** `ok`, or what the store's own check found. */
  readonly integrity: string;
}

export interface UsageQuery {
  /** Replies from this time on (ISO 8601); null for all. */
  readonly since: string | null;
  readonly by: 'mode' | 'session' | 'day';
}

/** What the replies of one mode, one session or one day (UTC) took. */
export interface UsageRecord {
  /** The mode, the session's id, or the day as `2026-01-31`. */
  readonly group: string;
  readonly turns: number;
  /** Of these, the turns that ended in an error. */
  readonly failed: number;
  /** Sums of what the engines counted. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The turns of which no tokens were counted: those that failed, and those of engines that do not count. */
  readonly uncounted: number;
  /** The mean time to the first piece of a reply; null where no reply had one. */
  readonly first_token_ms: number | null;
}

export interface Administration {
  /** Of all projects. The largest group first; days in their order. */
  usage(query: UsageQuery): Promise<readonly UsageRecord[]>;

  /** `INVALID_REQUEST` for a name that is empty, over 200 characters, or holds control characters. */
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;

  /** All keys of all projects, revoked ones too, the oldest first. */
  listKeys(): Promise<readonly KeyRecord[]>;

  /** Holds for the next request of every process. `NOT_FOUND` for an id that names no key; revoking twice changes nothing. */
  revokeKey(keyId: string): Promise<KeyRecord>;

  /** What the store is and whether it is whole. Reads all of it: seconds on a large store. */
  inspectStore(): Promise<StoreReport>;

  /** What a purge would erase. */
  planPurge(request: PurgeRequest): Promise<PurgePlan>;

  /**
   * Erases deleted sessions for good, and every byte of them in the store and its backups. `INVALID_REQUEST` if they are
   * not as many as expected: then nothing was erased. `STORE_BUSY` while another process reads: to be asked again, until it
   * resolves. A session whose reply still runs is left.
   */
  purgeSessions(request: PurgeRequest & { readonly expected_sessions: number }): Promise<PurgeReport>;

  /** Whether any of these sessions of a project is there: active, or deleted and not erased. */
  holdsAny(project_id: string, session_ids: readonly string[]): Promise<boolean>;
}
