// The error for a store with an older schema, or for a missing store, where the caller asked not to migrate or make one, or may not.
import { ParleyError } from '../service/errors.ts';

/**
 * The error `STORE_OLDER`. `version` is the schema of the store; 0 if there is no store yet. `denial`: the error of a database that does not
 * allow the user to change the tables; undefined for none.
 */
export function olderStore(place: string, version: number, newest: number, denial?: unknown): ParleyError {
  const state =
    version === 0 ? 'does not exist yet' : `has schema ${version}, and this Parley needs schema ${newest}`;
  return new ParleyError('STORE_OLDER', `The store ${place} ${state}.`, {
    hint: 'Nothing was changed.',
    remedy: { kind: 'migrate_store', byOwner: denial !== undefined },
    cause: denial,
  });
}
