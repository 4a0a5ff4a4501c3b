// The contract of administration: operations for the owner of a store only. They are not part of the interface document and take no key, so
// they are never offered over HTTP, and a backend at a server elsewhere has no administration.
import type { AuditEntry, AuditHead, AuditQuery, AuditVerification } from './audit-entry.ts';
import type {
  ErasureReport,
  PurgeExecution,
  PurgePlan,
  PurgeReport,
  PurgeRequest,
  UserPurgeExecution,
  UserPurgePlan,
  UserPurgeReport,
  UserPurgeRequest,
} from './erasure.ts';
import type { KeyLimits } from './key-limits.ts';
import type { Retention } from './project-retention.ts';
import type { SessionChanges } from './session-archive.ts';
import type { StoreFact } from './store-fact.ts';

/** The record of a key, without the key itself. */
export interface KeyRecord extends KeyLimits {
  readonly key_id: string;
  readonly key_name: string;
  readonly project_id: string;
  readonly project_name: string;
  readonly created_at: string;
  /** ISO 8601; null while the key is valid. */
  readonly revoked_at: string | null;
  /** The hour (ISO 8601) of the last use, or the creation if it was later; null for a key that was never used. It may be some seconds late. */
  readonly last_used_at: string | null;
}

/** A key that was just created. */
export interface CreatedKey extends KeyRecord {
  /** The key itself. It is shown only this once, because the store keeps only its SHA-256. */
  readonly key: string;
}

/** A missing limit means no limit. */
export interface CreateKeyRequest extends Partial<KeyLimits> {
  /** The name of the key's project. The project is created if there is none of that name. */
  readonly project_name: string;
  readonly key_name: string;
}

/** A report on a store for a person who looks for a fault. */
export interface StoreReport {
  /** A path, or an address without a password. */
  readonly place: string;
  /** How many bytes the store takes there. */
  readonly bytes: number;
  /** How many bytes may still be written there; null if the store does not know. */
  readonly free_bytes: number | null;
  readonly schema_version: number;
  /** The software of the store, and how it makes commits durable. */
  readonly facts: readonly StoreFact[];
  /** `ok`, or the result of the store's own check. */
  readonly integrity: string;
}

/** The migration that opening a store has done. The two versions are equal if there was nothing to do. */
export interface StoreMigration {
  /** The version of the schema before; 0 if there was no store. */
  readonly from: number;
  readonly to: number;
  /** The path of the copy that was made of the store before it was changed; null if none was made. */
  readonly backup: string | null;
}

/** One project in a copy of a store, after the comparison with the original. */
export interface CopiedProject {
  readonly project_id: string;
  readonly project_name: string;
  /** How many sessions, active and deleted. */
  readonly sessions: number;
  readonly messages: number;
  /** SHA-256 over all sessions and messages, in hex: the same in both stores. */
  readonly hash: string;
}

/** The modes in the result of copying a store. */
export interface CopiedModes {
  /** How many modes were copied, because the copy did not have them. */
  readonly copied: number;
  /** The names of other modes that the copy had already. They stay unchanged. */
  readonly kept: readonly string[];
  /** The names of modes that were not copied, because their settings break a rule. */
  readonly faulty: readonly string[];
}

/** The result of copying a store. */
export interface CopyReport {
  readonly from: string;
  readonly to: string;
  readonly projects: readonly CopiedProject[];
  /** How many keys were copied, revoked ones included. */
  readonly keys: number;
  readonly modes: CopiedModes;
  /** How many results of idempotency keys were copied. A request that is repeated after the move is therefore not carried out twice. */
  readonly stored_answers: number;
}

/** Receives the progress of a copy, a backup or its restoring. */
export interface CopyProgress {
  /** Called at the start of a phase. `sessions`: how many sessions the original has. */
  begin(phase: 'copied' | 'compared' | 'backed up' | 'verified' | 'restored', sessions: number): void;
  /** Called when this many further sessions are done. */
  finish(sessions: number): void;
}

/** Texts of a session and their replacements. */
export interface RedactionRequest {
  readonly project_id: string;
  readonly session_id: string;
  /** `was`: the text that is replaced. */
  readonly messages: readonly {
    readonly message_id: string;
    readonly was: string;
    readonly content: string;
  }[];
  /** The changes of the title and of the settings. */
  readonly changes: SessionChanges;
}

export interface UsageQuery {
  /** ISO 8601. Replies from this time on are counted; null counts all. */
  readonly since: string | null;
  readonly by: 'mode' | 'session' | 'day';
}

/** The usage of the replies of one mode, one session or one day (UTC). */
export interface UsageRecord {
  /** The mode, the session's id, or the day as `2026-01-31`. */
  readonly group: string;
  readonly turns: number;
  /** How many of the turns ended in an error. */
  readonly failed: number;
  /** The sums of the tokens that the engines counted. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** How many turns have no token count: failed turns, and turns of engines that do not count. */
  readonly uncounted: number;
  /** The mean time to the first chunk of a reply, in ms; null if no reply had one. */
  readonly first_token_ms: number | null;
}

/** What an export took out of the store. */
export interface ExportRecord {
  readonly project_id: string;
  readonly key_id: string;
  readonly session_ids: readonly string[];
}

/** The operations on a store that need no key. All of them reject with a {@link ParleyError}. */
export interface Administration {
  /** The policies by which sessions expire. */
  retention(): Promise<Retention>;

  /** Counts the replies of all projects. The largest group comes first; days are in their order. */
  usage(query: UsageQuery): Promise<readonly UsageRecord[]>;

  /**
   * Creates a key, and its project if there is none of that name. Rejects with `INVALID_REQUEST` for a name that is empty, longer than 200
   * characters (code points), or holds control characters, for a time of expiry that has passed, and for a budget that is no whole number
   * from 1.
   */
  createKey(request: CreateKeyRequest): Promise<CreatedKey>;

  /** All keys of all projects, the oldest first, revoked ones included. */
  listKeys(): Promise<readonly KeyRecord[]>;

  /**
   * Revokes a key. The next request of every process is refused. Revoking twice changes nothing. Rejects with `INVALID_REQUEST` for an id
   * that names no key.
   */
  revokeKey(keyId: string): Promise<KeyRecord>;

  /**
   * Reports on the store and checks it. The check reads the whole file, which takes seconds for a large store. Rejects for an intact store that
   * cannot be written.
   */
  inspectStore(): Promise<StoreReport>;

  /** Counts the sessions that a purge would erase. Erases nothing. */
  planPurge(request: PurgeRequest): Promise<PurgePlan>;

  /**
   * Erases deleted sessions for good: in SQLite every byte of them in the store's files and in the backups in its directory; in PostgreSQL their
   * rows, and with `rewrite` every byte in the data files. A session whose turn still runs is left. Rejects with `INVALID_REQUEST` if the
   * number of sessions is not the expected one; nothing is erased then. Rejects with `STORE_BUSY` while another process prevents the
   * erasure of bytes; the caller repeats the call until it resolves.
   */
  purgeSessions(request: PurgeExecution): Promise<PurgeReport>;

  /** Counts what {@link purgeUser} would erase. Rejects with `INVALID_REQUEST` for a user that no session can have. */
  planUserPurge(request: UserPurgeRequest): Promise<UserPurgePlan>;

  /**
   * Deletes and erases all sessions of a person, as `purgeSessions` erases deleted ones. A session in which a turn runs is left, and named
   * in the report. Rejects as `purgeSessions` does.
   */
  purgeUser(request: UserPurgeExecution): Promise<UserPurgeReport>;

  /** Returns those of the given lines that the person's sessions hold as a message, or as a part of one. */
  linesOf(request: UserPurgeRequest, lines: readonly string[]): Promise<readonly string[]>;

  /** The entries of the audit log, the oldest first. */
  auditEntries(query: AuditQuery): AsyncIterable<AuditEntry>;

  /** The newest of these entries, at most `limit`, the oldest first. */
  newestAuditEntries(query: AuditQuery, limit: number): Promise<readonly AuditEntry[]>;

  /** Checks the chain of the audit log. `noted`: a head that was kept outside of the store; null for none. */
  verifyAudit(noted: AuditHead | null): Promise<AuditVerification>;

  /** Records an export in the audit log. For the store, an export is only many reads. */
  recordExport(exported: ExportRecord): Promise<void>;

  /**
   * Replaces texts of an active session for good. Their bytes stay in the store's files until `eraseRedacted`. Rejects with
   * `SESSION_BUSY` while a turn runs in it or if a text is another one by now, and with `SESSION_NOT_FOUND`; nothing is changed then.
   */
  redactSession(request: RedactionRequest): Promise<void>;

  /** Erases the bytes of replaced texts, as a purge erases those of sessions; `rewrite` and errors as there. */
  eraseRedacted(options: { readonly rewrite: boolean }): Promise<ErasureReport>;

  /** The sessions of all projects, deleted ones included, that hold one of these texts: at most `limit` of them. */
  sessionsWith(texts: readonly string[], limit: number): Promise<readonly string[]>;

  /** True if the store holds any of these sessions of a project: active, or deleted and not erased. */
  holdsAny(projectId: string, sessionIds: readonly string[]): Promise<boolean>;
}
