// The errors of a turn. An error after the message was stored says where the message is.
import { type ErrorCode, ParleyError } from '../service/errors.ts';
import type { Turn } from '../store/session-store.ts';

/** The error of a turn whose message is stored, with the place of the message. */
export function turnFailure(error: unknown, turn: Turn): ParleyError {
  const place = { session_id: turn.session_id, message_id: turn.message_id };
  const hint = keptMessage(turn, '.');
  if (!(error instanceof ParleyError)) {
    return new ParleyError('ENGINE_FAILED', 'The engine failed.', { ...place, hint, cause: error });
  }
  return error.with({ ...place, hint: `${hint} ${error.hint}`.trim() });
}

/** The error of a reply that could not be stored although its message was. It adds the place of the message to the store's error. */
export function lostReply(error: unknown, turn: Turn): ParleyError {
  const { session_id, message_id } = turn;
  const failure =
    error instanceof ParleyError
      ? error
      : new ParleyError('INTERNAL_ERROR', 'The store failed.', { cause: error });
  const advice = adviceAfterLoss[failure.code] ?? failure.hint;
  const hint = `${keptMessage(turn, '; the reply is not.')} ${advice}`.trim();
  return failure.with({ hint, session_id, message_id });
}

const adviceAfterLoss: Partial<Record<ErrorCode, string>> = {
  STORAGE_FULL: 'Free some space, then ask again.',
  STORE_BUSY: 'End the other program that uses the store, then ask again.',
};

/** Says where the message of the turn is stored. Empty if its text is only in memory. */
function keptMessage({ session_id, isEphemeral }: Turn, end: string): string {
  return isEphemeral ? '' : `The message is kept in session ${session_id}${end}`;
}

/** Thrown where a model would have to be asked, but the budget of the key is used up. */
export class OverBudget extends Error {}

export function takenOver({ session_id, message_id }: Turn): ParleyError {
  return new ParleyError('SESSION_BUSY', 'The turn was taken over by another process while it ran.', {
    hint: `The message is kept in session ${session_id}. Read the session again to see its reply.`,
    session_id,
    message_id,
    retryAfter: 5,
  });
}

export function stillBusy(): ParleyError {
  return new ParleyError('SESSION_BUSY', 'Another chat in this session has not ended yet.', {
    hint: 'Try again when its reply is complete.',
    retryAfter: 5,
  });
}

export function sessionNotFound(): ParleyError {
  return new ParleyError('SESSION_NOT_FOUND', 'There is no such session in this project.', {
    hint: 'It may be deleted, or belong to another project.',
  });
}

export function idempotencyMismatch(): ParleyError {
  return new ParleyError('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another request.', {
    hint: 'Use a new key for a new request.',
  });
}

/** The turn of the key was undone, and its reply is no answer. Asking again would write a reply that nobody sees. */
export function undoneTurn({ session_id, message_id }: Turn): ParleyError {
  const message = 'The turn of this Idempotency-Key was undone, and its reply is cut. It is not asked again.';
  return new ParleyError('INVALID_REQUEST', message, {
    hint: 'Nothing was changed. Bring the turn back first, or send the message with a new key.',
    session_id,
    message_id,
  });
}
