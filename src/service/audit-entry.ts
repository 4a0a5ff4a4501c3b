// The audit log of a store: who did what to which sessions and keys. It holds no texts and no titles.

export const auditedActions = [
  'delete',
  'restore',
  'import',
  'export',
  'purge',
  'redact',
  'expire',
  'retention_set',
  'retention_off',
  'key_created',
  'key_revoked',
  'refused_login',
] as const;

export type AuditedAction = (typeof auditedActions)[number];

export interface AuditEntry {
  /** 1 for the first entry of the store, then without gaps. */
  readonly number: number;
  /** ISO 8601. */
  readonly time: string;
  readonly what: AuditedAction;
  /** Null for all projects, or for none. */
  readonly project_id: string | null;
  /** The key of the call; null for the owner of the store, and for a refused login. */
  readonly key_id: string | null;
  /** The id of the call, as in the server's log. An entry that gathers many calls has that of the first. */
  readonly request_id: string | null;
  /** The number of sessions, keys, refusals or policies. */
  readonly count: number;
  /**
   * Keys have their ids. Sessions have the first 16 hexadecimal digits of the SHA-256 of their ids, so that a purge leaves no id. Refused
   * keys have the beginning of their SHA-256. Empty if only a count is recorded.
   */
  readonly ids: readonly string[];
  /** SHA-256, in hex, of the hash before, the number and the text of this entry. */
  readonly hash: string;
}

/** Fields that are null do not filter. */
export interface AuditQuery {
  /** ISO 8601. */
  readonly since: string | null;
  readonly until: string | null;
  readonly project_id: string | null;
  readonly what: AuditedAction | null;
  readonly session_id: string | null;
}

/** The last entry of a log. Kept outside of the store, it later shows that no entry up to it was changed or cut off. */
export interface AuditHead {
  readonly number: number;
  readonly hash: string;
}

export interface AuditFault {
  /** The number of the entry. */
  readonly number: number;
  readonly problem: 'changed' | 'missing' | 'out_of_place' | 'not_the_noted_one' | 'unreadable';
}

export interface AuditVerification {
  readonly entries: number;
  /** Null for an empty log. */
  readonly head: AuditHead | null;
  /** The first faults; empty for a log that is whole. */
  readonly faults: readonly AuditFault[];
}
