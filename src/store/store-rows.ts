// What copying one store into another needs of each: all rows of a store, out and in, with exact ids, positions and times. Nothing is
// decided here, and no row is changed on its way. Every method is one unit of work; pages bound what is held in memory. Errors are as in
// session-store.ts.
import type { MessageRow } from './rows.ts';

export interface ProjectRow {
  readonly project_id: string;
  readonly name: string;
  /** Epoch milliseconds, as all times here. */
  readonly created_at: number;
}

export interface ProjectKeyRow {
  readonly key_id: string;
  readonly name: string;
  /** SHA-256 of the key. */
  readonly hash: Uint8Array;
  readonly project_id: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
}

/** A session, active or deleted. */
export interface SessionHead {
  readonly session_id: string;
  readonly title: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly message_count: number;
  readonly deleted_at: number | null;
  /** Of the message whose turn runs, or was left; null for none. Who runs it is not copied: there it is a turn that nobody runs. */
  readonly turn_position: number | null;
  readonly turn_epoch: number;
}

export type KeptMessage = MessageRow & { readonly first_token_ms: number | null };

/** A session, and those of its messages that are on the page, one behind the other. */
export interface SessionPart {
  readonly session: SessionHead;
  readonly messages: readonly KeptMessage[];
}

/** Where a page begins: with this message of the session; behind the session where the position is null. */
export interface PartPlace {
  readonly session_id: string;
  readonly position: number | null;
}

export interface PartPage {
  /** In the order of the sessions' ids. A session that does not fit goes on as the first part of the next page. */
  readonly parts: readonly SessionPart[];
  /** Null on the last page. */
  readonly next: PartPlace | null;
}

/** What an idempotency key did. */
export interface IdempotencyRow {
  readonly key: string;
  readonly request_hash: Uint8Array;
  /** The message of a turn; null where an answer is stored. */
  readonly session_id: string | null;
  readonly position: number | null;
  /** JSON. */
  readonly answer: string | null;
  readonly age_ms: number;
}

export interface StoreCounts {
  readonly sessions: number;
  readonly messages: number;
}

export interface StoreRows {
  /** In the order of their ids. */
  projects(): Promise<readonly ProjectRow[]>;
  /** In the order of their ids, revoked ones too. */
  keys(): Promise<readonly ProjectKeyRow[]>;
  count(projectId: string): Promise<StoreCounts>;
  /** `from` is null for the first page. At least one message is on it, unless there is none. */
  readParts(projectId: string, from: PartPlace | null): Promise<PartPage>;
  /** At most a thousand, in the order of the keys, behind `after`. */
  readIdempotency(projectId: string, after: string | null): Promise<readonly IdempotencyRow[]>;

  // What is there already under its id stays as it is.
  addProjects(projects: readonly ProjectRow[]): Promise<void>;
  addKeys(keys: readonly ProjectKeyRow[]): Promise<void>;
  addParts(projectId: string, parts: readonly SessionPart[]): Promise<void>;
  /** A row whose session is not there is left out. */
  addIdempotency(projectId: string, rows: readonly IdempotencyRow[]): Promise<void>;
  /** With their messages, and what names them. */
  removeSessions(projectId: string, sessionIds: readonly string[]): Promise<void>;

  /** A note of whoever copies, kept in the store; null without one. */
  copyNote(): Promise<string | null>;
  setCopyNote(note: string): Promise<void>;
  close(): Promise<void>;
}

/** What a page holds at most; one message may take more. */
export const pageLimits = { sessions: 500, messages: 2000, textBytes: 4 * 1024 * 1024 } as const;
