// Stores a session under its own id.
import { ParleyError } from '../../service/errors.ts';

/** Resolves to false if a different session has the id: another one, or one that has grown, was changed or was deleted. */
export async function storeUnlessTaken(store: () => Promise<unknown>): Promise<boolean> {
  try {
    await store();
    return true;
  } catch (error) {
    const isTaken =
      error instanceof ParleyError && error.details.some(({ problem }) => problem === 'is taken');
    if (isTaken) return false;
    throw error;
  }
}
