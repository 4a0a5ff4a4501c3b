// What a store asks and does not decide itself: the rules of a turn and of idempotency keys, as pure functions of what stands. They
// know no database. A store is given them when it is opened, and asks them inside the transaction that reads what stands and writes
// what they decide.
import type { Message } from '../service/session.ts';
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

/**
 * The rules of a turn: what stands, and what is therefore to be written. They know no database. A store asks them inside the
 * transaction that reads what stands and writes what they decide.
 */
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

/** What a store asks and does not decide itself. */
export interface StoreRules {
  readonly turns: TurnRules;
  /** `new`: the work is to be done, and recorded. `again`: it was done; its answer, or its turn, is to be told. */
  meaningOfKey(used: UsedKey | null, request: UsedKey): 'new' | 'again' | 'mismatch';
}
