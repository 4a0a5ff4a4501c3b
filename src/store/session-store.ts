// What a store of sessions must do: rows in, rows out. What is allowed, what a repetition means and what a page holds is decided above it,
// or by the rules that it is opened with (store-rules.ts); values arrive checked: lengths, Unicode, ids.
//
// For every method:
// - It is one unit of work: atomic, and durable when it resolves. A store may commit many waiting calls together; it settles none before
//   the commit. Exceptions: `purgeSessions` and the search index.
// - It sees all that was committed, by any process, before it was called.
// - `projectId` is part of every statement that names a session. A project that is not there has no sessions.
// - Times that go in are epoch milliseconds, durations are milliseconds; what comes out is of the service's own types. Leases and the
//   age of idempotency keys are measured by the clock of the store, which is one for all processes that use it.
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
  Usage,
} from '../service/session.ts';
import type { BatchItem, SearchPage, SessionRecord } from '../service/session-archive.ts';
import type { MessagePlace, PurgeFilter, Rows, SearchFilter, SessionFilter } from './session-filters.ts';

/** The SHA-256 of the key that a call is made with; null where that is checked. */
export type KeyHash = Uint8Array | null;

/** Makes a write happen once: kept in the same transaction as what it names. */
export interface IdempotencyKey {
  readonly key: string;
  /** SHA-256 of the operation and its request: the same key with another request is a mismatch. */
  readonly requestHash: Uint8Array;
  /** Keys recorded before this time are forgotten (ms). */
  readonly keptSince: number;
}

/** `done`: the value, of this call or of the one that it repeats. `mismatch`: the key was used for another request. */
export type Idempotent<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'mismatch' };

export interface NewKey {
  readonly key_id: string;
  readonly key_name: string;
  /** SHA-256 of the key. */
  readonly hash: Uint8Array;
  /** The project of this name, or a new one with this id. */
  readonly project_name: string;
  readonly project_id: string;
  readonly now: number;
}

/**
 * Who runs a turn, and how long that is believed without a renewal. The store measures this duration with its own clock, which is
 * the same for every process that uses the store; no caller's clock counts. At most {@link longestLeaseMs}.
 */
export interface Lease {
  readonly owner: string;
  readonly ms: number;
}

export const longestLeaseMs = 60_000;

export interface TurnStart {
  /** The session to continue, or null for a new one made of `newSession`. */
  readonly session_id: string | null;
  readonly newSession: { readonly session_id: string; readonly title: string };
  readonly message_id: string;
  readonly content: string;
  readonly mode: string;
  readonly now: number;
  readonly lease: Lease;
  /** An owner known to be dead: its turn is over although its lease still runs. */
  readonly deadOwner: string | null;
  readonly once: IdempotencyKey | null;
  readonly keyHash?: KeyHash;
  /** The id for an empty `interrupted` reply that closes a turn whose owner went without ending it. */
  readonly closing_message_id: string;
}

/** A turn that runs: its message is durable, its reply is not there yet. */
export interface Turn {
  readonly session_id: string;
  readonly message_id: string;
  /** Of the user's message; the reply's is the next. */
  readonly position: number;
  readonly content: string;
  readonly mode: string;
  readonly owner: string;
  /** Rises with every taking of a turn in the session: whoever holds an older one has lost it. */
  readonly epoch: number;
}

export type TurnBegin =
  | { readonly kind: 'begun'; readonly turn: Turn }
  /** Another turn runs in the session; or, with a key that is known, that very turn. */
  | { readonly kind: 'busy'; readonly session_id: string; readonly owner: string; readonly epoch: number }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'mismatch' }
  /** The key's turn has ended in `stop` or `length`: its reply. */
  | { readonly kind: 'answered'; readonly turn: Turn; readonly reply: Message };

export interface TurnReply {
  readonly message_id: string;
  readonly content: string;
  readonly finish_reason: FinishReason;
  readonly usage: Usage | null;
  /** The mode that replied: another than the turn's when that one failed. */
  readonly mode: string;
  /** From the question to the first chunk of the reply; null when none came. */
  readonly first_token_ms: number | null;
  /** Why a turn ended in `error`; null for every other. */
  readonly error_code: string | null;
  readonly now: number;
}

/** What has come of a reply that runs, since the part before it. */
export interface ReplyPart {
  /** Where in the text it begins, in UTF-16 units. */
  readonly at: number;
  readonly content: string;
  /** For the interrupted reply that becomes of the parts when the turn is left; the same for each part of a turn. */
  readonly message_id: string;
  readonly mode: string;
  readonly now: number;
}

export type TurnEnd =
  /** The reply stands under its id. */
  | { readonly kind: 'kept'; readonly message_count: number }
  /** The turn was taken over, and nothing was kept of this reply. The reply that stands in its place, or null when none does yet. */
  | { readonly kind: 'lost'; readonly standing: Message | null }
  | { readonly kind: 'not_found' };

/** `other_count`: there are so many sessions, not as many as expected; nothing was erased. */
export type Purge =
  | { readonly kind: 'purged'; readonly report: PurgeReport }
  | { readonly kind: 'other_count'; readonly sessions: number };

export interface SessionStore {
  /** The project of a key that is not revoked; null otherwise. `hash` is the SHA-256 of the key, 32 bytes. */
  findKey(hash: Uint8Array): Promise<KeyIdentity | null>;
  /** Makes the project too, where there is none of its name. */
  createKey(key: NewKey): Promise<KeyRecord>;
  /** The oldest first, revoked ones too. */
  listKeys(): Promise<readonly KeyRecord[]>;
  /** Null for an unknown id. A second revocation keeps the first's time. Every `findKey` that is called after it, anywhere, finds none. */
  revokeKey(keyId: string, now: number): Promise<KeyRecord | null>;

  /** The id must be new in the project. `now` becomes the times of its creation and of its last activity. */
  createSession(
    projectId: string,
    session: { readonly session_id: string; readonly title: string | null; readonly now: number },
    once: IdempotencyKey | null,
    keyHash?: KeyHash,
  ): Promise<Idempotent<NewSession>>;
  /** Active sessions alone; so are all reads and writes but those of restoring, and listing the deleted. Null for any other. */
  findSession(projectId: string, sessionId: string, keyHash?: KeyHash): Promise<Session | null>;
  /** Hides it. Null where there is nothing to delete. */
  deleteSession(projectId: string, sessionId: string, now: number): Promise<DeletedSession | null>;
  /** Not an activity. Null for a session that is not there. */
  renameSession(projectId: string, sessionId: string, title: string | null): Promise<Session | null>;
  /** Also answers for a session that is active. Null for one that is not there at all. */
  restoreSession(
    projectId: string,
    sessionId: string,
    once: IdempotencyKey | null,
  ): Promise<Idempotent<Session | null>>;
  /** One transaction, items in the order of the ids; an id given twice is deleted once and then not found. */
  deleteSessions(
    projectId: string,
    sessionIds: readonly string[],
    now: number,
    once: IdempotencyKey | null,
  ): Promise<Idempotent<readonly BatchItem<'deleted'>[]>>;
  /** One transaction, items in the order of the ids; an active session is restored. */
  restoreSessions(
    projectId: string,
    sessionIds: readonly string[],
    once: IdempotencyKey | null,
  ): Promise<Idempotent<readonly BatchItem<'restored'>[]>>;
  /** In the order of the filter. */
  listSessions(projectId: string, filter: SessionFilter): Promise<Rows<Session>>;
  /**
   * What the rule of a search makes of the messages of active sessions. What other projects hold changes nothing in it. It may last: the
   * first search of a store that came from elsewhere reads all of it. Rejects with the signal's reason once that fires, and with
   * `INVALID_REQUEST` for what it cannot look for in reasonable time (search-refusals.ts).
   */
  searchSessions(projectId: string, filter: SearchFilter, signal: AbortSignal): Promise<SearchPage>;
  /**
   * By position. Null for a session that is not there. It ends at its limit, or where its messages take `pageBytes` as JSON
   * (page-room.ts); it holds at least one.
   */
  listMessages(projectId: string, sessionId: string, place: MessagePlace): Promise<Rows<Message> | null>;

  /**
   * Takes in a session as it was written out, a trailing message without a reply as a turn whose owner is gone. Also answers for
   * one that is there and the same, as the rules tell it. Null where the project has another session of this id, or a deleted one.
   * What other projects hold changes nothing.
   */
  importSession(
    projectId: string,
    record: SessionRecord,
    once: IdempotencyKey | null,
  ): Promise<Idempotent<Session | null>>;

  /**
   * The first of a turn's two writes: takes the session's turn and keeps the user's message (and, if new, the session).
   * A key whose turn ended in `error` or `interrupted`, or whose owner is gone, begins that same turn again, on the stored message.
   * While it waits for another process, the signal stops it: then it rejects with the signal's reason, and nothing is kept.
   */
  beginTurn(projectId: string, start: TurnStart, signal?: AbortSignal): Promise<TurnBegin>;
  /**
   * Waits for the turn that a `busy` has told of. True when it no longer runs: given back, taken by another, its lease over, its session
   * not there; false after `waitMs`. It writes nothing. Rejects with the signal's reason.
   */
  waitForTurn(
    projectId: string,
    turn: Pick<Turn, 'session_id' | 'epoch'>,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** The newest messages before a position, the oldest first: `limit`, or fewer where they take `pageBytes` as JSON, but at least two. */
  history(projectId: string, sessionId: string, before: number, limit: number): Promise<readonly Message[]>;
  /**
   * Whether the turn is still held: false once another has taken it. Extends its lease to `leaseMs` from now when a third of that has
   * passed, so it may be asked often. `part` is kept until the turn ends by a store that many machines share: when the owner goes without
   * ending the turn, the parts are its interrupted reply, for whoever takes it over or lists the messages. A part that is sent again
   * from the same place replaces the first.
   */
  renewTurn(projectId: string, turn: Turn, leaseMs: number, part?: ReplyPart | null): Promise<boolean>;
  /**
   * The second write: keeps the reply after its message, in place of a cut one that may stand there, and gives the turn back.
   * A session deleted meanwhile stays deleted and keeps the reply. A turn that was lost may still keep its reply, where that replaces
   * a cut one and nobody runs the turn again; `kept` says so. May be called twice with the same reply.
   */
  endTurn(projectId: string, turn: Turn, reply: TurnReply): Promise<TurnEnd>;

  /** What a purge would erase. */
  planPurge(filter: PurgeFilter): Promise<PurgePlan>;
  /**
   * Not one transaction: once it has begun, asking again goes on. `expected` is a number of sessions, `keptSince` as in
   * {@link IdempotencyKey}. `STORE_BUSY` while another process reads, for as long as that keeps erased bytes where they are.
   */
  purgeSessions(
    filter: PurgeFilter,
    options: { readonly expected: number; readonly keptSince: number },
  ): Promise<Purge>;
  /** Whether any of these is there: active, or deleted and not purged. */
  holdsAny(projectId: string, sessionIds: readonly string[]): Promise<boolean>;
  /** Of all projects, replies from a time on. The largest group first; days in their order. */
  usage(since: number, by: UsageQuery['by']): Promise<readonly UsageRecord[]>;

  /** Reads all of the store, to say whether it is whole. */
  inspect(): Promise<StoreReport>;
  /** Rejects while the store cannot be written. It writes nothing. */
  ping(): Promise<void>;
  /** Waits for the writes that were asked for. Every later call rejects with `UNAVAILABLE`; a second `close` resolves. */
  close(): Promise<void>;
}
