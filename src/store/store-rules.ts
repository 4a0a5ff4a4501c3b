// What a store asks and does not decide itself: the rules of turns, idempotency keys, imports and searches, as functions of what stands.
// They know no database. A store is given them when it is opened, and asks them inside the transaction that reads what stands and writes
// what they decide; a search reads without one.
import type { Message, Session } from '../service/session.ts';
import type { SearchPage } from '../service/session-archive.ts';
import type { SearchFilter } from './session-filters.ts';
import type { TurnReply } from './session-store.ts';

/** A turn that stands in a session, as the store reads it in its transaction. */
export interface StandingTurn {
  readonly owner: string;
  /** Of its message. */
  readonly position: number;
  /** By the store's clock. */
  readonly isLeaseOver: boolean;
  readonly hasReply: boolean;
}

/** The rules of a turn: what stands, and what is therefore to be written. */
export interface TurnRules {
  /** A new message in a session that is there. `close`: the turn that stands first gets an empty `interrupted` reply. */
  begin(standing: StandingTurn | null, deadOwner: string | null): 'busy' | 'take' | 'close and take';
  /** A message whose idempotency key came again: `reply` is the one that it has. */
  repeat(
    own: { readonly position: number; readonly reply: Message | null },
    standing: StandingTurn | null,
    deadOwner: string | null,
  ): 'answered' | 'busy' | 'take' | 'close and take';
  /** A reply that comes: `reply` is the one that stands in its place, `isRunning` whether the turn runs, held by this or by another. */
  end(
    place: { readonly isHeld: boolean; readonly isRunning: boolean; readonly reply: Message | null },
    reply: TurnReply,
  ): 'add' | 'replace' | 'stands' | 'lost';
}

/** What an idempotency key was used for before. */
export interface UsedKey {
  readonly requestHash: Uint8Array;
  /** For a turn, whose message stands; otherwise for a write whose answer is stored. */
  readonly isTurn: boolean;
}

/** A message in which the index of a store has found all terms of a search. */
export interface FoundMessage {
  /** The store's own number of it, for {@link SearchReads} alone. */
  readonly id: number;
  readonly session_id: string;
  readonly position: number;
  /** ms */
  readonly created_at: number;
  /** Of its text in UTF-8. */
  readonly bytes: number;
}

/** A session that is shown on a page of a search, with some of its messages. */
export interface ShownSession {
  readonly session: Session;
  readonly messages: readonly Pick<Message, 'message_id' | 'role' | 'created_at' | 'content'>[];
}

/**
 * What a search reads: messages of one project, in active sessions. Where it reads much, it gives a part at a time, of a few milliseconds'
 * work; whoever takes a part lets others have their turn before the next.
 */
export interface SearchReads {
  /** The messages that hold all terms: all, or the `most` that the store took in last. In any order. */
  hits(most: number): Promise<readonly FoundMessage[]>;
  /** The text of each, in their order; null for one that has gone meanwhile. */
  texts(messages: readonly FoundMessage[]): AsyncIterable<readonly (string | null)[]>;
  /** Each of the sessions with the messages of these numbers, in their order; null for a session that has gone meanwhile. */
  shown(
    sessions: readonly { readonly session_id: string; readonly messages: readonly number[] }[],
  ): AsyncIterable<ShownSession | null>;
}

/** Ranks what is found and makes the page: the same over every store that holds the same messages. */
export type SearchRule = (filter: SearchFilter, reads: SearchReads) => Promise<SearchPage>;

/** How texts are searched, for a store that makes the words of its index itself. */
export interface TextRules {
  /** The words of a text as they are compared: without case and accents, in their order. */
  wordsOf(text: string): readonly string[];
  /** Whether a text holds all terms of a search. */
  matcher(filter: Pick<SearchFilter, 'matching' | 'terms'>): (text: string) => boolean;
}

export interface StoreRules extends TextRules {
  readonly turns: TurnRules;
  readonly search: SearchRule;
  /** Whether a session or a message that is imported is the one that is kept. */
  isSame<Kept extends Session | Message>(kept: Kept, given: Kept): boolean;
  /** `new`: the work is to be done, and recorded. `again`: it was done; its answer, or its turn, is to be told. */
  meaningOfKey(used: UsedKey | null, request: UsedKey): 'new' | 'again' | 'mismatch';
}
