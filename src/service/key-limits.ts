// What a key may do, until when, and how much in a day.

/** Each scope allows what the one before it allows, and more. local/key-scopes.ts says which operation needs which. */
export const keyScopes = ['read', 'chat', 'admin'] as const;

export type KeyScope = (typeof keyScopes)[number];

/** The limits of a key. They are set when the key is made, and never change. Null means no limit. */
export interface KeyLimits {
  /** Null for a key that may do everything, such as one made before there were scopes. */
  readonly scope: KeyScope | null;
  /** ISO 8601. From this time on the key is refused, like a revoked one. */
  readonly expires_at: string | null;
  /** Budgets per day in UTC, for all servers together. */
  readonly turns_per_day: number | null;
  readonly tokens_per_day: number | null;
}

export const noLimits: KeyLimits = {
  scope: null,
  expires_at: null,
  turns_per_day: null,
  tokens_per_day: null,
};

/** What is left of the budgets of a key today; null where the key has no such budget. */
export interface BudgetLeft {
  readonly turns: number | null;
  readonly tokens: number | null;
}
