// A copy of a store gets its keys last. Until then it has none, and no key is created in it, so that nobody takes it for the whole store.
import { ParleyError } from '../service/errors.ts';

/** `note` is the stored note about the copy, if the store has no keys. */
export function refuseIncompleteCopy(note: string | null): void {
  if (note === null) return;
  const { from, isWhole } = JSON.parse(note) as { readonly from: string; readonly isWhole: boolean };
  if (isWhole) return;
  throw new ParleyError('STORE_UNSAFE', `The store is an incomplete copy of ${from}.`, {
    hint: 'Nothing was changed. Complete the copy first, or use another store.',
  });
}
