// Decisions that a store leaves to others: the rules of turns, idempotency keys, imports and searches, as functions of what is stored. They
// know no database. A store gets them when it is opened and asks them inside the transaction that also writes the result; a search reads
// without a transaction.
import type { AuditHead } from '../service/audit-entry.ts';
import type { Message, Session, SessionOrdering } from '../service/session.ts';
import type { SearchPage } from '../service/session-archive.ts';
import type { AuditRow } from './audit-log.ts';
import type { OrderChange, OrderedSession } from './order-change.ts';
import type { SearchFilter } from './session-filters.ts';
import type { TurnReply } from './session-store.ts';

/** The last turn of a session, as the store reads it in its transaction. */
export interface StandingTurn {
  readonly owner: string;
  /** The position of its message. */
  readonly position: number;
  /** Measured by the store's clock. */
  readonly isLeaseOver: boolean;
  readonly hasReply: boolean;
}

/** The rules of a turn: they say, from what is stored, what is to be written. */
export interface TurnRules {
  /**
   * For a new message in an existing session, and for a turn that is to be undone or redone. `close and take`: the standing turn first
   * gets an `interrupted` reply of the stored parts, if any. If it has a reply already, stored parts become an alternative.
   */
  begin(standing: StandingTurn | null, deadOwner: string | null): 'busy' | 'take' | 'close and take';
  /**
   * For a message whose idempotency key came again. `reply` is the first whole reply that the message got, or else the visible one;
   * for the key of a regeneration, the reply that this made. For a first regeneration `reply` is null.
   */
  repeat(
    own: { readonly position: number; readonly reply: Message | null; readonly isUndone?: boolean },
    standing: StandingTurn | null,
    deadOwner: string | null,
  ): 'answered' | 'busy' | 'take' | 'close and take';
  /**
   * For a reply that is to be stored. `reply` is the stored reply in its place, after the same message; `isRunning` says whether the
   * turn runs, held by this caller or by another. `replace`: the standing reply becomes an alternative. `alternative`: this reply becomes
   * one. A reply that is stored as an alternative already is not stored twice.
   */
  end(
    place: { readonly isHeld: boolean; readonly isRunning: boolean; readonly reply: Message | null },
    reply: TurnReply,
  ): 'add' | 'replace' | 'alternative' | 'stands' | 'lost';
  /** The position of the last message of a fork; null if there is no reply at `through`. `through` null: the last reply. */
  forkThrough(messageCount: number, through: number | null): number | null;
}

/** The earlier use of an idempotency key. */
export interface UsedKey {
  readonly requestHash: Uint8Array;
  /** True for a turn, whose message is stored; false for a write whose answer is stored. */
  readonly isTurn: boolean;
}

/** A message in which the index of a store has found all terms of a search. */
export interface FoundMessage {
  /** The store's own number of the message, for {@link SearchReads} alone. */
  readonly id: number;
  readonly session_id: string;
  readonly position: number;
  /** Epoch milliseconds. */
  readonly created_at: number;
  /** The length of the text in UTF-8. */
  readonly bytes: number;
}

/** A session that is shown on a page of a search, with some of its messages. */
export interface ShownSession {
  readonly session: Session;
  readonly messages: readonly Pick<Message, 'message_id' | 'role' | 'created_at' | 'content'>[];
}

/**
 * The reads of a search: messages of one project, in active sessions. A long read comes in parts of a few milliseconds' work, so that its
 * consumer can let other work run between two parts.
 */
export interface SearchReads {
  /** The messages that hold all terms, in any order: all of them, or the `limit` newest of the store. */
  hits(limit: number): Promise<readonly FoundMessage[]>;
  /** The texts in the order of the messages; null for a message that was deleted meanwhile. */
  texts(messages: readonly FoundMessage[]): AsyncIterable<readonly (string | null)[]>;
  /** Each session with the messages of these numbers, in the given order; null for a session that was deleted meanwhile. */
  shown(
    sessions: readonly { readonly session_id: string; readonly messages: readonly number[] }[],
  ): AsyncIterable<ShownSession | null>;
}

/** Ranks what is found and makes the page. Stores that hold the same messages give the same page. */
export type SearchRule = (filter: SearchFilter, reads: SearchReads) => Promise<SearchPage>;

/** How texts are searched, for a store that builds the words of its index itself. */
export interface TextRules {
  /** The words of a text in their order, without case and accents. */
  wordsOf(text: string): readonly string[];
  /** True if a text holds all terms of a search. */
  matcher(filter: Pick<SearchFilter, 'matching' | 'terms'>): (text: string) => boolean;
}

export interface SearchRules extends TextRules {
  readonly search: SearchRule;
}

/** The entries of the audit log that follow its head, from the waiting ones. */
export type ChainRule = (head: AuditHead | null, waiting: readonly string[]) => readonly AuditRow[];

export interface StoreRules {
  readonly turns: TurnRules;
  /** No start waits for its code. */
  loadChain(): Promise<ChainRule>;
  /** Null if the session would have too many tags. */
  order(kept: SessionOrdering, change: OrderChange): OrderedSession | null;
  /** The rules of searches. No start waits for their code. */
  loadSearch(): Promise<SearchRules>;
  /** True if an imported session or message equals the stored one, in all fields that it has. */
  isSame<Kept extends Session | Message>(kept: Kept, given: Partial<Kept>): boolean;
  /** `new`: do the work and record it. `again`: the work was done; return its answer or its turn. */
  meaningOfKey(used: UsedKey | null, request: UsedKey): 'new' | 'again' | 'mismatch';
}
