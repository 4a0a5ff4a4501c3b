// The interface of a store's counts of key usage: when a key was last used, and how much of its budgets a day has used.
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
export interface DayUsage {
  readonly day: number;
  readonly turns: number;
  readonly tokens: number;
}

export const dayMs = 24 * 60 * 60 * 1000;

export interface KeyBudgets {
  /** Counts a turn and its estimated tokens, in one step for all processes, unless a budget of the key is used up. */
  reserve(keyHash: Uint8Array, tokens: number): Promise<Reservation>;
  /** Corrects the counts of a day when the turn has ended. */
  settle(keyHash: Uint8Array, usage: DayUsage): Promise<void>;
  /** Stores the time of a use (epoch ms) if it is later than the stored one. Rejects at once if the store is locked. */
  recordUse(keyHash: Uint8Array, time: number): Promise<void>;
}
