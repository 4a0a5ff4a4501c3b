// The interface of what a store keeps of the use of keys: when a key was last used, and how much of its budgets is used on a day.
import type { KeyIdentity } from '../service/conversation-service.ts';
import type { BudgetLeft, KeyLimits } from '../service/key-limits.ts';

/** A valid key as the store finds it. An expired key is found too: callers judge its time. */
export interface FoundKey extends KeyIdentity, KeyLimits {
  /** ISO 8601. */
  readonly last_used_at: string | null;
}

/** `counted` on a day (days since 1970 in UTC, by the clock of the store), or `used_up` until the end of the day, in `endsInMs`. */
export type Reservation =
  | { readonly kind: 'counted'; readonly day: number }
  | { readonly kind: 'used_up'; readonly left: BudgetLeft; readonly endsInMs: number };

/** What is added to the counts of a day; the numbers may be negative. */
export interface DayUse {
  readonly day: number;
  readonly turns: number;
  readonly tokens: number;
}

export const dayMs = 24 * 60 * 60 * 1000;

export interface KeyBudgets {
  /** Counts a turn and its estimated tokens, in one step for all processes, unless a budget of the key is used up. */
  reserve(keyHash: Uint8Array, tokens: number): Promise<Reservation>;
  settle(keyHash: Uint8Array, use: DayUse): Promise<void>;
  /** Keeps a later time of the last use (ms). Rejects at once if the store is locked. */
  used(keyHash: Uint8Array, time: number): Promise<void>;
}
