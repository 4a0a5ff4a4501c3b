// The error of every call to a store that was closed.
import { ParleyError } from '../service/errors.ts';

export function storeClosed(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'The store is closed.');
}
