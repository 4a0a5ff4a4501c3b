// The owners of turns in a store in SQLite: this process, and what is known of the others. All processes that use one such store run on one
// machine (store/sqlite/lease-clock.ts).
import type { TurnOwner } from '../local/local-options.ts';
import type { OwnerState } from '../store/sqlite/abandoned-turns.ts';
import {
  isOfEarlierBoot,
  type ProcessIdentity,
  type ProcessTable,
  processIdentity,
} from '../system/process-identity.ts';

export interface TurnOwners {
  readonly owner: TurnOwner;
  readonly stateOf: (owner: string) => OwnerState;
}

/** The identity is read at its first use: most commands run no turn. */
export function turnOwners(processes: ProcessTable): TurnOwners {
  let known: ProcessIdentity | null = null;
  const identity = () => {
    known ??= processIdentity(processes);
    return known;
  };
  const stateOf = (other: string) =>
    isOfEarlierBoot(other, identity()) ? 'gone' : identity().stateOf(other);
  return {
    owner: {
      get id() {
        return identity().name;
      },
      isGone: (other) => stateOf(other) === 'gone',
    },
    stateOf,
  };
}
