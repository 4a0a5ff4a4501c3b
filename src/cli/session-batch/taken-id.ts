// The refusal of an import whose id another session has.
import { ParleyError } from '../../service/errors.ts';

/** True for that refusal. */
export function isTakenId(error: unknown): boolean {
  return (
    error instanceof ParleyError && error.details?.some(({ problem }) => problem === 'is taken') === true
  );
}
