// An opened store, in SQLite or PostgreSQL, with everything that a backend needs from it.
import type { TurnOwner } from '../local/local-options.ts';
import type { StoreMigration } from '../service/administration.ts';
import type { StoreMeasures } from '../service/store-measures.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { ModeSource } from './mode-source.ts';

export interface ChosenStore {
  readonly store: SessionStore;
  /** True if the store has no project yet. The caller must create the first one. */
  readonly created: boolean;
  readonly migration: StoreMigration;
  readonly owner: TurnOwner;
  /** Until the next turn of the event loop, reads may share one state of the store. */
  readonly shareReads: () => void;
  /** The number of live servers that share this store; null for a store of one machine. */
  readonly servers: (() => number) | null;
  readonly measures: StoreMeasures;
  /** The modes in the store. Null if the modes of this machine's configuration are used. */
  readonly modes: ModeSource | null;
}
