// A fact that a store reports about itself.

/** A fact about a store in the store's own words, for people and for logs. No decision depends on it. */
export interface StoreFact {
  /** For example `SQLite` or `free_pages`. */
  readonly name: string;
  readonly value: string | number;
}
