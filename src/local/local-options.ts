// Everything that the embedded service is given from outside.
import type { EngineSet } from '../engine/engine-set.ts';
import type { Limits } from '../service/limits.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { IdSource, RandomBytes } from './ids.ts';
import type { Say } from './late-keeping.ts';

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
  /** Milliseconds of a steady clock, which ignores changes of the time of day. Not `performance`, because Node takes 2 ms to load it. */
  readonly sinceBoot: () => number;
  readonly random: RandomBytes;
  readonly ids: IdSource;
  readonly owner: TurnOwner;
  /** Tells the user what takes long; null if no user is at hand. */
  readonly say: Say | null;
}
