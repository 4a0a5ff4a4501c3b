// Recognises the failure of an import whose session id is already taken.
import { ParleyError } from '../../service/errors.ts';

export function isIdConflict(error: unknown): boolean {
  return (
    error instanceof ParleyError && error.details?.some(({ problem }) => problem === 'is taken') === true
  );
}
