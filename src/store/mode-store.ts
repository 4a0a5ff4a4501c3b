// The interface of a store of modes, which all processes that use the store share. A store knows the name of a mode and keeps its settings
// as text. The caller checks the settings, and which modes may be stored together. Errors are as in session-store.ts.

interface ModeDocument {
  readonly name: string;
  /** The settings as JSON. */
  readonly settings: string;
}

/** All modes of a store at one moment. */
export interface ModeSet {
  /** A text that differs after each change. */
  readonly version: string;
  /** The name of the mode that is used if none is named; null if none was chosen. */
  readonly default_mode: string | null;
  /** In the order in which they were added. */
  readonly modes: readonly ModeDocument[];
}

export interface ModeStore {
  read(): Promise<ModeSet>;
  /**
   * Replaces the set with the version `expected`. False if the store has another version, because another change came first; nothing is
   * changed then. The new version must be one that no set had before.
   */
  replace(expected: string, next: ModeSet): Promise<boolean>;
  close(): Promise<void>;
}
