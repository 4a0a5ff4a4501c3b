// The error for a field of a request whose value is not valid.
import { ParleyError } from '../service/errors.ts';

export function wrongField(field: string, problem: string, hint = 'Nothing was changed.'): ParleyError {
  return new ParleyError('INVALID_REQUEST', `The field ${field} ${problem}.`, {
    hint,
    details: [{ field, problem }],
  });
}
