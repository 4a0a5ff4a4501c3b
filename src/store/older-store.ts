// The error for a store with an older schema, or for a missing store, where the caller asked not to migrate or make one.
import { ParleyError } from '../service/errors.ts';

/** The error `STORE_OLDER`. `version` is the schema of the store; 0 if there is no store yet. */
export function olderStore(place: string, version: number, newest: number): ParleyError {
  const state =
    version === 0 ? 'does not exist yet' : `has schema ${version}, and this Parley needs schema ${newest}`;
  return new ParleyError('STORE_OLDER', `The store ${place} ${state}.`, {
    hint: 'Nothing was changed.',
    remedy: { kind: 'migrate_store' },
  });
}
