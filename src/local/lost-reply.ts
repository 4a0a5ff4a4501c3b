// The error for a reply that could not be stored although its message was. It adds the session of the message to the store's error.
import { ParleyError } from '../service/errors.ts';
import type { Turn } from '../store/session-store.ts';
import { keptMessage } from './turn-failures.ts';

const remedies: Readonly<Record<string, string>> = {
  STORAGE_FULL: 'Free some space, then ask again.',
  STORE_BUSY: 'End the other program that uses the store, then ask again.',
};

export function lostReply(error: unknown, turn: Turn): ParleyError {
  const { session_id, message_id } = turn;
  const known =
    error instanceof ParleyError
      ? error
      : new ParleyError('INTERNAL_ERROR', 'The store failed.', { cause: error });
  const advice = remedies[known.code] ?? known.hint;
  return known.with({
    hint: `${keptMessage(turn, '; the reply is not.')} ${advice}`.trim(),
    session_id,
    message_id,
  });
}
