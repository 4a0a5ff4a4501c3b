// Stands for an operation that an implementation of a contract does not have yet.
import { ParleyError } from './errors.ts';

export function notYet(): never {
  throw new ParleyError('UNSUPPORTED', 'This operation is not offered here.');
}
