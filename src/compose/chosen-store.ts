// An opened store of any database, as a backend needs it.
import type { TurnOwner } from '../local/local-options.ts';
import type { StoreMigration } from '../service/administration.ts';
import type { StoreMeasures } from '../service/store-measures.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { ModeSource } from './mode-source.ts';

export interface ChosenStore {
  readonly store: SessionStore;
  /** True while the store holds no project; the caller must make the first one. */
  readonly created: boolean;
  readonly migration: StoreMigration;
  readonly owner: TurnOwner;
  /** Until the next turn of the event loop, reads may share one state of the store. */
  readonly shareReads: () => void;
  /** The number of live servers that share this store; null for a store of one machine. */
  readonly servers: (() => number) | null;
  readonly measures: StoreMeasures;
  /** The modes that the store keeps; null if those of this machine's configuration are used. */
  readonly modes: ModeSource | null;
}
