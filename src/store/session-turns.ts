// What goes into a store's operations on the turns of a session, and what comes out. session-store.ts describes the operations.
import type { FinishReason, Message, Session, SessionSettings, Usage } from '../service/session.ts';
import type { MovedTurn } from '../service/session-archive.ts';
import type { IdempotencyKey, KeyHash } from './store-call.ts';

/**
 * The owner of a turn, and how long the turn is held without a renewal. The store measures this duration with its own clock, which all
 * processes that use the store share; no caller's clock counts. At most {@link longestLeaseMs}.
 */
interface Lease {
  readonly owner: string;
  readonly ms: number;
}

/** The longest lease of a turn, in ms. */
export const longestLeaseMs = 60_000;

/** A session to make. Settings that are missing are empty. */
export interface SessionStart extends Partial<SessionSettings> {
  readonly session_id: string;
  readonly title: string | null;
  /** Null or missing for none. */
  readonly user?: string | null;
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
  readonly idempotencyKey: IdempotencyKey | null;
  readonly keyHash?: KeyHash;
  /** True: no model may be asked. Only a turn that needs none is begun, the repetition of an answered one; any other is `over_budget`. */
  readonly answersOnly?: boolean;
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
  /** True if the text of the turn is only in memory. */
  readonly isEphemeral?: true;
}

/** A name for a turn in sets and maps. Ids of sessions are random, so no other turn has this name. */
export function turnName({ session_id, epoch }: Pick<Turn, 'session_id' | 'epoch'>): string {
  return `${session_id} ${epoch}`;
}

export type TurnBegin =
  /** `settings`: those of the session at this moment. */
  | { readonly kind: 'begun'; readonly turn: Turn; readonly settings: SessionSettings }
  /** Another turn runs in the session, or the turn of this very key. */
  | { readonly kind: 'busy'; readonly session_id: string; readonly owner: string; readonly epoch: number }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'mismatch' }
  /** Only for a call with `answersOnly`. */
  | { readonly kind: 'over_budget' }
  /** Only for a regeneration: the session has no message. */
  | { readonly kind: 'empty' }
  /** The turn of this key has ended in `stop` or `length` with this reply, or it was undone and this is its reply, cut or whole. */
  | { readonly kind: 'answered'; readonly turn: Turn; readonly reply: Message };

/** The answer to a call whose session has a turn that another call runs. The argument is the row of the session. */
export function busyWith(row: {
  readonly session_id: string;
  readonly turn_owner: string | null;
  readonly turn_epoch: number;
}): Extract<TurnBegin, { kind: 'busy' }> {
  const { session_id, turn_owner, turn_epoch } = row;
  return { kind: 'busy', session_id, owner: turn_owner ?? '', epoch: turn_epoch };
}

/** Another reply to the last message of a session. */
export interface RegenerationStart
  extends Pick<
    TurnStart,
    'mode' | 'now' | 'lease' | 'deadOwner' | 'idempotencyKey' | 'closing_message_id' | 'answersOnly'
  > {
  readonly session_id: string;
  /**
   * The id that the reply will have. It is stored with the idempotency key, so that a repeated key finds its own reply, also when it is an
   * alternative by then.
   */
  readonly reply_id: string;
}

/** A turn that is to be undone or redone. */
export interface TurnMove
  extends Pick<TurnStart, 'now' | 'deadOwner' | 'idempotencyKey' | 'closing_message_id'> {
  readonly session_id: string;
}

export type TurnMoveEnd =
  /** The session after the move and the user's message of the turn; also for a key whose move was made before. */
  | { readonly kind: 'done'; readonly value: MovedTurn }
  /** There is no turn to undo, or none that can be brought back. */
  | { readonly kind: 'nothing' }
  | Exclude<TurnBegin, { turn: unknown } | { kind: 'empty' | 'over_budget' }>;

export interface Fork {
  /** The parent. */
  readonly session_id: string;
  readonly newSession: {
    readonly session_id: string;
    /** Undefined for the parent's title. */
    readonly title: string | null | undefined;
  };
  /** The id of each copy is this text, `_` and the position, then `/copy` if the message comes from another program. */
  readonly copy_id_prefix: string;
  /** The position of the last message to copy; null for the last reply. */
  readonly through: number | null;
  readonly now: number;
}

export type ForkEnd =
  | { readonly kind: 'done'; readonly value: Session }
  /** There is no reply at `through`. `last` is the position of the last reply; null if there is none. */
  | { readonly kind: 'no_reply'; readonly last: number | null }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'mismatch' };

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
  /** The reply is stored under its id, in the visible line or as an alternative. */
  | { readonly kind: 'kept'; readonly message_count: number }
  /** The turn was taken over, and this reply was not stored. `standing` is the reply in its place, or null if there is none yet. */
  | { readonly kind: 'lost'; readonly standing: Message | null }
  | { readonly kind: 'not_found' };
