// Modes that a store keeps for all who use it. A store knows a mode by its name and holds its settings as they were given; what they mean,
// and which modes may stand beside each other, is for the caller to judge. Errors are as in session-store.ts.

export interface ModeDocument {
  readonly name: string;
  /** JSON. */
  readonly settings: string;
}

/** All modes of a store at one moment. */
export interface ModeSet {
  /** A text that differs after each change. */
  readonly version: string;
  /** The name of the mode that is used when none is named; null if none was chosen. */
  readonly default_mode: string | null;
  /** In the order in which they were added. */
  readonly modes: readonly ModeDocument[];
}

export interface ModeStore {
  read(): Promise<ModeSet>;
  /**
   * Puts this set in place of the one that has the version `expected`. False if the store has another version: somebody was first, and
   * nothing was changed. The version of the new set is one that no set had before.
   */
  replace(expected: string, next: ModeSet): Promise<boolean>;
  close(): Promise<void>;
}
