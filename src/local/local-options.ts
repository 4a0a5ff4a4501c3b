// What the embedded service is made of, handed in from outside.
import type { EngineSet } from '../engine/engine-set.ts';
import type { Limits } from '../service/limits.ts';
import type { SessionStore } from '../store/session-store.ts';
import type { IdSource, RandomBytes } from './ids.ts';
import type { Say } from './late-keeping.ts';

/** This process as the one that runs a turn, named so that another can tell when it is gone. */
export interface TurnOwner {
  readonly id: string;
  /** True only when that owner surely no longer runs: its turn is then free before its lease ends. */
  isGone(owner: string): boolean;
}

export interface LocalOptions {
  readonly store: SessionStore;
  readonly engines: EngineSet;
  readonly limits: Limits;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds that pass alike, however the time of day is set. Not `performance`: Node takes 2 ms to load what stands behind it. */
  readonly sinceBoot: () => number;
  readonly random: RandomBytes;
  readonly ids: IdSource;
  readonly owner: TurnOwner;
  /** Tells the user what takes long; null where no user is at hand. */
  readonly say: Say | null;
}
