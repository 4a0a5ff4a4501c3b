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
// - A call rejects with a `ParleyError`: `STORE_BUSY` (locked for too long, or out of reach; may be asked again), `STORAGE_FULL`,
//   `STORE_DAMAGED`, `UNAVAILABLE` (closed). Then nothing is stored, unless only the answer was lost.
// - The audit log records what a call with {@link AuditOrigin} deletes, restores, imports or erases, in the same transaction, and which
//   keys are created or revoked.
// - Several stores may be open on the same sessions at once, in one process or in many.
// - The visible line of a session has all positions from 0, one message each; `message_count` counts it. Every method means the visible
//   line, unless its comment says otherwise. Alternatives and undone messages are hidden. A message that is hidden or shown keeps its
//   position, its id and the idempotency keys that name it. Nothing but a purge erases a message.
import type { KeyRecord, StoreReport, UsageQuery, UsageRecord } from '../service/administration.ts';
import type { Call } from '../service/call.ts';
import type { PurgePlan, PurgeReport } from '../service/erasure.ts';
import type { KeyLimits } from '../service/key-limits.ts';
import type { DeletedSession, Message, NewSession, Session } from '../service/session.ts';
import type {
  BatchItem,
  OrderedItem,
  SearchPage,
  SessionChanges,
  SessionRecord,
} from '../service/session-archive.ts';
import type { AuditLog, AuditOrigin } from './audit-log.ts';
import type { FoundKey, KeyBudgets } from './key-budgets.ts';
import type { OrderChange } from './order-change.ts';
import type { RetentionStore } from './retention-store.ts';
import type {
  AnyMessagePlace,
  MessagePlace,
  PurgeFilter,
  Rows,
  SearchFilter,
  SessionFilter,
} from './session-filters.ts';
import type { StoreRedactions } from './session-redactions.ts';
import type {
  Fork,
  ForkEnd,
  RegenerationStart,
  ReplyPart,
  SessionStart,
  Turn,
  TurnBegin,
  TurnEnd,
  TurnMove,
  TurnMoveEnd,
  TurnReply,
  TurnStart,
} from './session-turns.ts';
import type { IdempotencyKey, Idempotent, KeyHash } from './store-call.ts';
import type { UserSessions } from './user-sessions.ts';

export type * from './audit-log.ts';
export type * from './key-budgets.ts';
export type * from './retention-store.ts';
export * from './session-turns.ts';
export * from './store-call.ts';
export type * from './user-sessions.ts';

export interface NewKey extends Partial<Omit<KeyLimits, 'expires_at'>> {
  readonly key_id: string;
  readonly key_name: string;
  /** The SHA-256 of the key. */
  readonly hash: Uint8Array;
  /** The name of the key's project. If no project has this name, one is made with the id below. */
  readonly project_name: string;
  readonly project_id: string;
  readonly now: number;
  readonly expires_at?: number | null;
}

export interface PurgeOptions {
  /** How many sessions the caller expects to erase. */
  readonly expected: number;
  /** As in {@link IdempotencyKey}. Older keys are erased too. */
  readonly keptSince: number;
  /** True: the store also does the extra work, if it needs any, that leaves no erased byte in its files. False by default. */
  readonly rewrites?: boolean;
  readonly by?: AuditOrigin;
  /** Called when this many further sessions are erased. */
  readonly erased?: ((sessions: number) => void) | undefined;
  /** How the audit log names the sessions; nothing by default. */
  readonly marks?: readonly string[];
}

/** `other_count`: there are `sessions` sessions, not as many as expected, and nothing was erased. */
export type Purge =
  | { readonly kind: 'purged'; readonly report: PurgeReport }
  | { readonly kind: 'other_count'; readonly sessions: number };

export interface SessionStore {
  /** Takes texts out of stored sessions. */
  redactions(): Promise<StoreRedactions>;
  /** Deletes and erases sessions by policies. */
  retention(): Promise<RetentionStore>;
  /** Finds what the store holds of a person. */
  ofUsers(): Promise<UserSessions>;
  /** The project of a key; null for an unknown or revoked key. `hash` is the SHA-256 of the key, 32 bytes. */
  findKey(hash: Uint8Array): Promise<FoundKey | null>;
  readonly budgets: KeyBudgets;
  readonly audit: AuditLog;
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
    idempotencyKey: IdempotencyKey | null,
    keyHash?: KeyHash,
  ): Promise<Idempotent<NewSession>>;
  /** Null unless the session is active. The other methods, too, see only active sessions, unless their comments say otherwise. */
  findSession(projectId: string, sessionId: string, keyHash?: KeyHash): Promise<Session | null>;
  /** Hides the session until it is restored or purged. Null if the project has no such active session. */
  deleteSession(
    projectId: string,
    sessionId: string,
    now: number,
    by?: AuditOrigin,
    keyHash?: KeyHash,
  ): Promise<DeletedSession | null>;
  /** A change does not count as an activity. Null if the project has no such active session. */
  changeSession(projectId: string, sessionId: string, changes: SessionChanges): Promise<Session | null>;
  /**
   * An active session is returned unchanged. Null if the project has no such session at all. Retention counts a restoration as an
   * activity.
   */
  restoreSession(
    projectId: string,
    sessionId: string,
    idempotencyKey: IdempotencyKey | null,
    by?: AuditOrigin,
  ): Promise<Idempotent<Session | null>>;
  /** One transaction; the items are in the order of the ids. The second occurrence of an id is not found. */
  deleteSessions(
    projectId: string,
    sessionIds: readonly string[],
    now: number,
    idempotencyKey: IdempotencyKey | null,
    by?: AuditOrigin,
  ): Promise<Idempotent<readonly BatchItem<'deleted'>[]>>;
  /** One transaction; the items are in the order of the ids. An active session counts as restored. */
  restoreSessions(
    projectId: string,
    sessionIds: readonly string[],
    idempotencyKey: IdempotencyKey | null,
    by?: AuditOrigin,
  ): Promise<Idempotent<readonly BatchItem<'restored'>[]>>;
  /**
   * Changes the ordering of sessions by the rule, in one transaction; the items are in the order of the ids. `done` is the status of a
   * session whose ordering is now as requested. An unchanged session is not written.
   */
  orderSessions(
    projectId: string,
    sessionIds: readonly string[],
    change: OrderChange,
    done: string,
    idempotencyKey: IdempotencyKey | null,
  ): Promise<Idempotent<readonly OrderedItem[]>>;
  /** The sessions in the order of the filter. */
  listSessions(projectId: string, filter: SessionFilter): Promise<Rows<Session>>;
  /**
   * The result of the search rule over the messages of active sessions. The messages of other projects do not change it. The first search
   * of a store that was copied here may take long, because it reads the whole store. Rejects with the signal's reason when the signal
   * fires, and with `INVALID_REQUEST` for a query that cannot be answered in reasonable time (search-refusals.ts). `notice` is called for
   * the messages that are indexed first.
   */
  searchSessions(
    projectId: string,
    filter: SearchFilter,
    signal: AbortSignal,
    keyHash?: KeyHash,
    notice?: Call['notice'],
  ): Promise<SearchPage>;
  /**
   * The messages in the order of their positions; null for an unknown session. The page ends at its limit, or when its messages take
   * `pageBytes` as JSON (page-budget.ts), but it holds at least one message if there is one.
   */
  listMessages(projectId: string, sessionId: string, place: MessagePlace): Promise<Rows<Message> | null>;
  /** Like `listMessages`, with the alternatives and the undone messages. */
  listAllMessages(
    projectId: string,
    sessionId: string,
    place: AnyMessagePlace,
  ): Promise<Rows<Message> | null>;

  /**
   * Stores an exported session. A last message without a reply becomes a turn whose owner is gone. A session that is stored already and is
   * the same by the rules counts as imported. Null if the project has another session with this id, or a deleted one. The sessions of other
   * projects do not matter. A record with `replaces` takes the place of the stored session (replaced-session.ts); null if the stored
   * session is not as it was read.
   */
  importSession(
    projectId: string,
    record: SessionRecord,
    idempotencyKey: IdempotencyKey | null,
    by?: AuditOrigin,
  ): Promise<Idempotent<Session | null>>;

  /**
   * The first of a turn's two writes: takes the turn of the session and stores the user's message (and the session, if it is new). The mode
   * of a new message becomes that of the session, and no undone turn of it can be brought back from then on. A key whose turn ended in
   * `error` or `interrupted`, or whose owner is gone, starts the same turn again with the stored message, if that is still visible. A key
   * whose message has whole replies is answered with the first of them. The signal ends a wait for another process: the call rejects with
   * its reason, and nothing is stored.
   */
  beginTurn(projectId: string, start: TurnStart, signal?: AbortSignal): Promise<TurnBegin>;
  /** The mode of the message whose turn the key began; null for a key that is new, too old, or not that of a turn. */
  modeOfTurn(projectId: string, idempotencyKey: Omit<IdempotencyKey, 'requestHash'>): Promise<string | null>;
  /**
   * Takes the turn of the session's last message for another reply, as `beginTurn` takes it for a message. The stored reply
   * stays until `endTurn`. An abandoned regeneration leaves it as it is; stored parts of its reply become an alternative. A key whose
   * regeneration made a whole reply is answered with that, and a key whose message was undone with a reply that the message has.
   */
  beginRegeneration(projectId: string, start: RegenerationStart, signal?: AbortSignal): Promise<TurnBegin>;
  /**
   * Hides the last turn. A turn whose owner is gone is closed first, as `beginTurn` closes it. This is an activity of the session:
   * `undone_at` is `now`, or a millisecond after the last activity if that is later. So later undone turns have later times.
   */
  undoTurn(projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd>;
  /** Shows the turn that was undone last, if no turn or regeneration began since. This is an activity too. */
  redoTurn(projectId: string, move: TurnMove, signal?: AbortSignal): Promise<TurnMoveEnd>;
  /**
   * Copies the visible line through a position, and the settings, into a new session, also while a turn runs in the parent. The fork is
   * whole or not there, and shows one moment of its parent. `forked_at` of the fork is the position of the last copy. Copies keep their
   * times and do not count as usage. The call is not one transaction: other calls run in between.
   */
  forkSession(projectId: string, fork: Fork, idempotencyKey: IdempotencyKey | null): Promise<ForkEnd>;
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
   * passed, so frequent calls are cheap. `part` is durable when the call resolves, and is kept until the turn ends. If the owner
   * disappears, the parts become the interrupted reply when another owner takes the turn, or when the messages are listed. A part with the
   * same `at` replaces the earlier one.
   */
  renewTurn(projectId: string, turn: Turn, leaseMs: number, part?: ReplyPart | null): Promise<boolean>;
  /**
   * The second write: stores the reply after its message and releases the turn. An earlier reply there becomes an alternative, or this
   * reply does if it is cut and the earlier one is whole. If the session was deleted meanwhile, it stays deleted and the reply is stored
   * in it. The reply of a lost turn is stored too (`kept`) if it replaces a cut reply to the same message and no turn runs at that place.
   * The call may be repeated with the same reply.
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
  /**
   * The usage of the replies of all projects since a time (ms), hidden ones included, copies in forks excluded. The largest group comes
   * first; days are in the order of time.
   */
  usage(since: number, by: UsageQuery['by']): Promise<readonly UsageRecord[]>;

  /** Reads the whole store and reports whether it is intact. */
  inspect(): Promise<StoreReport>;
  /** Rejects while the store cannot be written. Writes nothing itself. */
  ping(): Promise<void>;
  /** Waits for the pending writes. Every later call rejects with `UNAVAILABLE`; a second `close` resolves. */
  close(): Promise<void>;
}
