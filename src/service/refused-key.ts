// The single error for every unusable key: absent, malformed, unknown or revoked.
import { ParleyError } from './errors.ts';

export function refusedKey(): ParleyError {
  return new ParleyError('INVALID_API_KEY', 'The API key is invalid or revoked.', {
    hint: 'Use a key of this service that is not revoked.',
  });
}
