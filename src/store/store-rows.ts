// The interface for copying a store: it reads and writes all rows, with exact ids, positions and times. It decides nothing and changes no
// row. Every method is one unit of work. The rows are read in pages, which limits the memory. Errors are as in session-store.ts.
import type { AuditRow } from './audit-log.ts';
import type { KeyRow, MessageRow, SessionRow } from './rows.ts';

export type { AuditRow } from './audit-log.ts';

export interface ProjectRow {
  readonly project_id: string;
  readonly name: string;
  /** Epoch milliseconds, like all times in this file. */
  readonly created_at: number;
}

/** A key with its limits (service/key-limits.ts). The use of it is not copied. */
export interface ProjectKeyRow extends Omit<KeyRow, 'key_name' | 'project_name' | 'last_used_at'> {
  readonly name: string;
  /** SHA-256 of the key. */
  readonly hash: Uint8Array;
}

/** A session, active or deleted. `mode` is as stored: null if the last turn is older than the column. */
export interface SessionHead extends SessionRow {
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly deleted_at: number | null;
  /**
   * The position of the message whose turn runs or was abandoned; null for none. The owner is not copied: no process runs the copied
   * turn.
   */
  readonly turn_position: number | null;
  readonly turn_epoch: number;
  /** How many undone turns can be brought back. */
  readonly undone_turns: number;
}

/** The columns of a session in every store, under which a copy reads and writes it. */
export const headColumns = [
  ...(['session_id', 'title', 'created_at', 'updated_at', 'message_count', 'deleted_at'] as const),
  ...(['turn_position', 'turn_epoch', 'undone_turns', 'mode', 'parent_id', 'forked_at'] as const),
  ...(['parameters', 'system', 'pinned', 'archived', 'tags', 'user_id'] as const),
] as const satisfies readonly (keyof SessionHead)[];

/** A message, visible or hidden. */
export interface StoredMessage extends MessageRow {
  readonly first_token_ms: number | null;
  /** True for a copy in a fork, which counts in no usage report. */
  readonly is_copy: boolean;
  // Both null for a visible message.
  readonly alternative_of: string | null;
  readonly undone_at: number | null;
}

/**
 * A session with those of its messages that are on the page, visible and hidden, ordered by their positions, then by their ids, byte by
 * byte.
 */
export interface SessionPart {
  readonly session: SessionHead;
  readonly messages: readonly StoredMessage[];
}

/** The place of a message in the order of its session. An empty id comes before all messages of its position. */
interface MessageKey {
  readonly position: number;
  readonly message_id: string;
}

/** The place where a page begins: at this message of the session, or after the session if `message` is null. */
export interface PartPlace {
  readonly session_id: string;
  readonly message: MessageKey | null;
}

/** The first message of a session. */
export const firstMessage: MessageKey = { position: 0, message_id: '' };

export interface PartPage {
  /** In the order of the sessions' ids. A session that does not fit continues as the first part of the next page. */
  readonly parts: readonly SessionPart[];
  /** Null on the last page. */
  readonly next: PartPlace | null;
}

/** The result of an idempotency key. */
export interface IdempotencyRow {
  readonly key: string;
  readonly request_hash: Uint8Array;
  /** The session, the position and the id of a turn's message, visible or undone; all null if an answer is stored. */
  readonly session_id: string | null;
  readonly position: number | null;
  readonly message_id: string | null;
  /** The id of the reply that a regeneration makes; null for every other key. */
  readonly reply_id: string | null;
  /** The stored answer as JSON; null for a turn. */
  readonly answer: string | null;
  readonly age_ms: number;
}

export interface StoreCounts {
  readonly sessions: number;
  /** Visible and hidden ones. */
  readonly messages: number;
}

/** The reads of all rows. */
export interface StoreRowReads {
  /** In the order of their ids. */
  projects(): Promise<readonly ProjectRow[]>;
  /** In the order of their ids, revoked ones included. */
  keys(): Promise<readonly ProjectKeyRow[]>;
  count(projectId: string): Promise<StoreCounts>;
  /** `from` is null for the first page. A page holds at least one message if any is left. */
  readParts(projectId: string, from: PartPlace | null): Promise<PartPage>;
  /** At most a thousand rows after the key `after`, in the order of the keys. */
  readIdempotency(projectId: string, after: string | null): Promise<readonly IdempotencyRow[]>;
  /** At most a thousand entries of the audit log after a number. Entries that wait to be chained are not among them. */
  readAudit(after: number): Promise<readonly AuditRow[]>;
}

export interface StoreRows extends StoreRowReads {
  /** The next sessions after the id `after`, without their messages; null for the first. None only at the end. */
  readHeads(projectId: string, after: string | null): Promise<readonly SessionHead[]>;
  /** Runs reads that all see the store as it is at one moment, while others write to it. */
  atOneMoment<T>(work: (rows: StoreRowReads) => Promise<T>): Promise<T>;

  // The methods that add rows leave an existing row with the same id unchanged.
  addProjects(projects: readonly ProjectRow[]): Promise<void>;
  addKeys(keys: readonly ProjectKeyRow[]): Promise<void>;
  addParts(projectId: string, parts: readonly SessionPart[]): Promise<void>;
  /** Leaves out a row whose session is not stored. */
  addIdempotency(projectId: string, rows: readonly IdempotencyRow[]): Promise<void>;
  addAudit(rows: readonly AuditRow[]): Promise<void>;
  /** Removes the sessions with their messages and the idempotency rows that name them. */
  removeSessions(projectId: string, sessionIds: readonly string[]): Promise<void>;

  /** The state of a copy, which the copying code keeps in the store as text; null if there is none. */
  copyNote(): Promise<string | null>;
  setCopyNote(note: string): Promise<void>;
  close(): Promise<void>;
}

/** The limits of a page. A single message may be longer than `textBytes`, which also limits the settings of the page's sessions. */
export const pageLimits = { sessions: 500, messages: 2000, textBytes: 4 * 1024 * 1024 } as const;

/** The bytes of a session's settings and tags. */
export function settingsBytes({
  parameters,
  system,
  tags,
}: Pick<SessionHead, 'parameters' | 'system' | 'tags'>): number {
  return [parameters, system, tags].reduce((bytes, text) => bytes + Buffer.byteLength(text ?? ''), 0);
}
