// What only the owner of a store may do: it has no key to check, so it is never offered over HTTP. Asked of a remote
// profile, each operation rejects with `UNSUPPORTED`.

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

export interface StoreReport {
  readonly path: string;
  readonly bytes: number;
  readonly schema_version: number;
  readonly sqlite_version: string;
  /** As read back from the open store: `wal` and `full`. */
  readonly journal_mode: string;
  readonly synchronous: string;
  readonly filesystem: string;
  /** `ok`, or what the database's own check found. */
  readonly integrity: string;
}

export interface Administration {
  /** `INVALID_REQUEST` for a name that is empty, over 200 characters, or holds control characters. */
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;

  /** All keys of all projects, revoked ones too, the oldest first. */
  listKeys(): Promise<readonly KeyRecord[]>;

  /** Holds for the next request of every process. `NOT_FOUND` for an id that names no key; revoking twice changes nothing. */
  revokeKey(keyId: string): Promise<KeyRecord>;

  /** What the store is and whether it is whole. Reads all of it: seconds on a large store. */
  inspectStore(): Promise<StoreReport>;
}
