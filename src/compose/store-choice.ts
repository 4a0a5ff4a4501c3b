// A store as a backend is put together from it, whichever database keeps it.
import type { TurnOwner } from '../local/local-options.ts';
import type { SessionStore } from '../store/session-store.ts';

export interface ChosenStore {
  readonly store: SessionStore;
  /** True while the store holds no project: somebody has to make the first. */
  readonly created: boolean;
  readonly owner: TurnOwner;
  /** Until the event loop turns, reads may share one look at the store. */
  readonly shareReads: () => void;
  /** Servers that live at this store now; null where it is the store of one machine. */
  readonly servers: (() => number) | null;
}
