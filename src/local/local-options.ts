// The dependencies of the embedded service.
import type { EngineSet } from '../engine/engine-set.ts';
import type { Limits } from '../service/limits.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { IdSource, RandomBytes } from './ids.ts';
import type { Say } from './slow-store-notice.ts';

/** This process as the owner of a turn. Another process can tell from the name whether the owner still runs. */
export interface TurnOwner {
  readonly id: string;
  /** True only when that owner certainly no longer runs. Its turn is then free before its lease ends. */
  isGone(owner: string): boolean;
}

export interface LocalOptions {
  readonly store: SessionStore;
  readonly engines: EngineSet;
  readonly limits: Limits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a steady clock, which ignores changes of the time of day. `performance` is not used: Node takes 2 ms to load it. */
  readonly sinceBoot: () => number;
  readonly random: RandomBytes;
  readonly ids: IdSource;
  readonly owner: TurnOwner;
  /** Shows the user a line about an operation that takes long; null if there is no user. */
  readonly say: Say | null;
}
