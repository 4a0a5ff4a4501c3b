// The interface of a store of sessions: rows in, rows out. A store decides nothing: callers, or the rules that it is opened with
// (store-rules.ts), say what is allowed, what a repetition means and what a page holds. Values arrive checked: lengths, Unicode, ids.
//
// For every method:
// - A call is one unit of work: atomic, and durable when it resolves. A store may commit many waiting calls together; it settles none
//   before the commit. Exceptions: `purgeSessions` and the search index.
// - A call sees everything that any process committed before the call.
// - `projectId` is part of every statement that names a session. An unknown project has no sessions.
// - Times that go in are epoch milliseconds, durations are milliseconds; results have the service's own types. The store's own clock
//   measures leases and the age of idempotency keys; all processes that use the store share it.
// - Ids are ASCII and compare byte by byte. Positions count from 0 without gaps: a message has an even one, its reply the next.
// - A call with a {@link KeyHash} does nothing and rejects with `INVALID_API_KEY` when that key is not one of the project, or is revoked.
// - It rejects with a `ParleyError`: `STORE_BUSY` (locked for too long, or out of reach; may be asked again), `STORAGE_FULL`,
//   `STORE_DAMAGED`, `UNAVAILABLE` (closed). Then nothing was kept, unless the answer itself was lost.
// - Several stores may be open on the same sessions at once, in one process or in many.
import type {
  KeyRecord,
  PurgePlan,
  PurgeReport,
  StoreReport,
  UsageQuery,
  UsageRecord,
} from '../service/administration.ts';
import type { KeyIdentity } from '../service/conversation-service.ts';
import type {
  DeletedSession,
  FinishReason,
  Message,
  NewSession,
  Session,
  SessionSettings,
  Usage,
} from '../service/session.ts';
import type { BatchItem, SearchPage, SessionChanges, SessionRecord } from '../service/session-archive.ts';
import type { MessagePlace, PurgeFilter, Rows, SearchFilter, SessionFilter } from './session-filters.ts';

/** The SHA-256 of the key that a call is made with; null if the key was checked before. */
export type KeyHash = Uint8Array | null;

/** Makes a write happen at most once. The key is stored in the same transaction as the result of the write. */
export interface IdempotencyKey {
  readonly key: string;
  /** The SHA-256 of the operation and its request. The same key with another hash is a mismatch. */
  readonly requestHash: Uint8Array;
  /** Keys recorded before this time (ms) do not count any more. */
  readonly keptSince: number;
}

/** `done`: the value of this call, or of the earlier call that it repeats. `mismatch`: the key was used for another request. */
export type Idempotent<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'mismatch' };

export interface NewKey {
  readonly key_id: string;
  readonly key_name: string;
  /** The SHA-256 of the key. */
  readonly hash: Uint8Array;
  /** The name of the key's project. If no project has this name, one is made with the id below. */
  readonly project_name: string;
  readonly project_id: string;
  readonly now: number;
}

/**
 * The owner of a turn, and how long the turn is held without a renewal. The store measures this duration with its own clock, which all
 * processes that use the store share; no caller's clock counts. At most {@link longestLeaseMs}.
 */
export interface Lease {
  readonly owner: string;
  readonly ms: number;
}

/** The longest lease of a turn, in ms. */
export const longestLeaseMs = 60_000;

/** A session to make. Settings that are missing are empty. */
export interface SessionStart extends Partial<SessionSettings> {
  readonly session_id: string;
  readonly title: string | null;
  readonly now: number;
}

export interface TurnStart {
  /** The session to continue, or null to make the session `newSession`. */
  readonly session_id: string | null;
  readonly newSession: Omit<SessionStart, 'now'>;
  readonly message_id: string;
  readonly content: string;
  readonly mode: string;
  readonly now: number;
  readonly lease: Lease;
  /** An owner that is known to be dead: its turn is over even if its lease still runs. */
  readonly deadOwner: string | null;
  readonly once: IdempotencyKey | null;
  readonly keyHash?: KeyHash;
  /** The id for the `interrupted` reply that closes an abandoned turn. The reply has the stored parts, or is empty. */
  readonly closing_message_id: string;
}

/** A running turn: its message is durable, its reply is not stored yet. */
export interface Turn {
  readonly session_id: string;
  readonly message_id: string;
  /** The position of the user's message; the reply has the next one. */
  readonly position: number;
  readonly content: string;
  readonly mode: string;
  readonly owner: string;
  /** Rises each time a turn of the session is taken. A holder with a lower epoch has lost its turn. */
  readonly epoch: number;
}

export type TurnBegin =
  /** `settings`: those of the session at this moment. */
  | { readonly kind: 'begun'; readonly turn: Turn; readonly settings: SessionSettings }
  /** Another turn runs in the session, or the turn of this very key. */
  | { readonly kind: 'busy'; readonly session_id: string; readonly owner: string; readonly epoch: number }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'mismatch' }
  /** The turn of this key has ended in `stop` or `length`, with this reply. */
  | { readonly kind: 'answered'; readonly turn: Turn; readonly reply: Message };

export interface TurnReply {
  readonly message_id: string;
  readonly content: string;
  readonly finish_reason: FinishReason;
  readonly usage: Usage | null;
  /** The mode that replied: the turn's mode, or its fallback when the turn's mode failed. */
  readonly mode: string;
  /** The time (ms) from the request to the first chunk of the reply; null when no chunk came. */
  readonly first_token_ms: number | null;
  /** Why the turn ended in `error`; null for every other end. */
  readonly error_code: string | null;
  readonly now: number;
}

/** The part of a running reply that came after the previous part. */
export interface ReplyPart {
  /** The place in the text where the part begins, in UTF-16 units. */
  readonly at: number;
  readonly content: string;
  /** The id of the interrupted reply that the parts become if the turn is abandoned. It is the same for all parts of a turn. */
  readonly message_id: string;
  readonly mode: string;
  readonly now: number;
}

export type TurnEnd =
  /** The reply is stored under its id. */
  | { readonly kind: 'kept'; readonly message_count: number }
  /** The turn was taken over, and this reply was not stored. `standing` is the reply in its place, or null if there is none yet. */
  | { readonly kind: 'lost'; readonly standing: Message | null }
  | { readonly kind: 'not_found' };

export interface PurgeOptions {
  /** How many sessions the caller expects to erase. */
  readonly expected: number;
  /** As in {@link IdempotencyKey}. Older keys are erased too. */
  readonly keptSince: number;
  /** True: the store also does the extra work, if it needs any, that leaves no erased byte in its files. False by default. */
  readonly rewrites?: boolean;
}

/** `other_count`: there are `sessions` sessions, not as many as expected, and nothing was erased. */
export type Purge =
  | { readonly kind: 'purged'; readonly report: PurgeReport }
  | { readonly kind: 'other_count'; readonly sessions: number };

export interface SessionStore {
  /** The project of a key; null for an unknown or revoked key. `hash` is the SHA-256 of the key, 32 bytes. */
  findKey(hash: Uint8Array): Promise<KeyIdentity | null>;
  /** Also makes the project if none has its name. */
  createKey(key: NewKey): Promise<KeyRecord>;
  /** All keys, the oldest first, revoked ones included. */
  listKeys(): Promise<readonly KeyRecord[]>;
  /**
   * Null for an unknown id. A second revocation keeps the time of the first. Every `findKey` that starts after this call, in any process,
   * finds nothing.
   */
  revokeKey(keyId: string, now: number): Promise<KeyRecord | null>;

  /** Makes a session, whose id must be new in the project. `now` is the time of its creation and of its last activity. */
  createSession(
    projectId: string,
    session: SessionStart,
    once: IdempotencyKey | null,
    keyHash?: KeyHash,
  ): Promise<Idempotent<NewSession>>;
  /** Null unless the session is active. The other methods too see active sessions only, unless their text says otherwise. */
  findSession(projectId: string, sessionId: string, keyHash?: KeyHash): Promise<Session | null>;
  /** Hides the session until it is restored or purged. Null if the project has no such active session. */
  deleteSession(projectId: string, sessionId: string, now: number): Promise<DeletedSession | null>;
  /** A change does not count as an activity. Null if the project has no such active session. */
  changeSession(projectId: string, sessionId: string, changes: SessionChanges): Promise<Session | null>;
  /** An active session is returned unchanged. Null if the project has no such session at all. */
  restoreSession(
    projectId: string,
    sessionId: string,
    once: IdempotencyKey | null,
  ): Promise<Idempotent<Session | null>>;
  /** One transaction; the items are in the order of the ids. The second occurrence of an id is not found. */
  deleteSessions(
    projectId: string,
    sessionIds: readonly string[],
    now: number,
    once: IdempotencyKey | null,
  ): Promise<Idempotent<readonly BatchItem<'deleted'>[]>>;
  /** One transaction; the items are in the order of the ids. An active session counts as restored. */
  restoreSessions(
    projectId: string,
    sessionIds: readonly string[],
    once: IdempotencyKey | null,
  ): Promise<Idempotent<readonly BatchItem<'restored'>[]>>;
  /** The sessions in the order of the filter. */
  listSessions(projectId: string, filter: SessionFilter): Promise<Rows<Session>>;
  /**
   * The result of the search rule over the messages of active sessions. The messages of other projects do not change it. The first search
   * of a store that was copied here may take long, because it reads the whole store. Rejects with the signal's reason when the signal
   * fires, and with `INVALID_REQUEST` for a query that cannot be answered in reasonable time (search-refusals.ts).
   */
  searchSessions(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage>;
  /**
   * The messages in the order of their positions; null for an unknown session. The page ends at its limit, or when its messages take
   * `pageBytes` as JSON (page-room.ts), but it holds at least one message if there is one.
   */
  listMessages(projectId: string, sessionId: string, place: MessagePlace): Promise<Rows<Message> | null>;

  /**
   * Stores an exported session. A last message without a reply becomes a turn whose owner is gone. A session that is stored already and is
   * the same by the rules counts as imported. Null if the project has another session with this id, or a deleted one. The sessions of other
   * projects do not matter.
   */
  importSession(
    projectId: string,
    record: SessionRecord,
    once: IdempotencyKey | null,
  ): Promise<Idempotent<Session | null>>;

  /**
   * The first of a turn's two writes: takes the turn of the session and stores the user's message (and the session, if it is new). The mode
   * of a new message becomes that of the session. A key
   * whose turn ended in `error` or `interrupted`, or whose owner is gone, starts the same turn again with the stored message. The signal
   * ends a wait for another process: the call rejects with its reason, and nothing is stored.
   */
  beginTurn(projectId: string, start: TurnStart, signal?: AbortSignal): Promise<TurnBegin>;
  /**
   * Waits for the end of the turn that a `busy` named. True when the turn no longer runs: it ended, was taken over, its lease is over or
   * its session is gone. False after `waitMs`. The wait writes nothing. Rejects with the signal's reason.
   */
  waitForTurn(
    projectId: string,
    turn: Pick<Turn, 'session_id' | 'epoch'>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * The newest messages before a position, the oldest first: at most `limit`, and fewer if they take more than `pageBytes` as JSON, but at
   * least two.
   */
  history(projectId: string, sessionId: string, before: number, limit: number): Promise<readonly Message[]>;
  /**
   * True while the turn is held; false once another owner has taken it. Extends the lease to `leaseMs` from now when a third of it has
   * passed, so frequent calls are cheap. A store that many machines share keeps `part` until the turn ends. If the owner disappears, the
   * parts become the interrupted reply when another owner takes the turn or the messages are listed. A part with the same `at` replaces
   * the earlier one.
   */
  renewTurn(projectId: string, turn: Turn, leaseMs: number, part?: ReplyPart | null): Promise<boolean>;
  /**
   * The second write: stores the reply behind its message, in place of a cut reply that may stand there, and releases the turn. If the
   * session was deleted meanwhile, it stays deleted and the reply is stored in it. The reply of a lost turn is stored too (`kept`) if it
   * replaces a cut reply and no turn runs at that place. The call may be repeated with the same reply.
   */
  endTurn(projectId: string, turn: Turn, reply: TurnReply): Promise<TurnEnd>;

  /** What a purge would erase. */
  planPurge(filter: PurgeFilter): Promise<PurgePlan>;
  /**
   * Erases the sessions of the filter for good. It is not one transaction: after a failure another call continues it. Rejects with
   * `STORE_BUSY` if another process reads the store for so long that erased bytes stay in its files.
   */
  purgeSessions(filter: PurgeFilter, options: PurgeOptions): Promise<Purge>;
  /** True if the project has any of these sessions, active or deleted. */
  holdsAny(projectId: string, sessionIds: readonly string[]): Promise<boolean>;
  /** The usage of the replies of all projects since a time (ms). The largest group comes first; days are in their order. */
  usage(since: number, by: UsageQuery['by']): Promise<readonly UsageRecord[]>;

  /** Reads the whole store and reports whether it is intact. */
  inspect(): Promise<StoreReport>;
  /** Rejects while the store cannot be written. Writes nothing itself. */
  ping(): Promise<void>;
  /** Waits for the pending writes. Every later call rejects with `UNAVAILABLE`; a second `close` resolves. */
  close(): Promise<void>;
}
