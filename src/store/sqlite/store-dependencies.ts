// The values that the store over SQLite is made with.
import type { StoreRules } from '../store-rules.ts';
import type { OwnerState } from './abandoned-turns.ts';
import type { FilesInPlace } from './files-in-place.ts';
import type { LockWait } from './lock-wait.ts';
import type { ProcessesOf } from './store-processes.ts';

export interface StoreDependencies {
  readonly wait: LockWait;
  readonly filesystem: string;
  readonly now: () => number;
  /** The clock of leases in ms; see lease-clock.ts. */
  readonly sinceBoot: () => number;
  readonly rules: StoreRules;
  readonly stateOf: (owner: string) => OwnerState;
  /** The processes for long reads of a served store, so that no caller waits for the long read of another. */
  readonly processes?: ProcessesOf;
  /** Missing for a store in memory. */
  readonly files?: FilesInPlace;
  /** True if the process ends soon after it closes the store. False by default. */
  readonly endsWithProcess?: boolean;
}
