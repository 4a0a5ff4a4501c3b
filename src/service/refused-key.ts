// The single error for every unusable key: absent, malformed, unknown, expired or revoked.
import { ParleyError } from './errors.ts';

export function refusedKey(): ParleyError {
  return new ParleyError('INVALID_API_KEY', 'The API key is invalid, expired or revoked.');
}
