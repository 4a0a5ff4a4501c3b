// The failures that clients see: the codes of the API, without files, locks, addresses of model servers or code.
import type { ChatStart } from '../service/chat-event.ts';
import { hasCode, ParleyError, serviceErrorCodes } from '../service/errors.ts';
import { modelServerProblemOf } from '../service/model-server-problem.ts';
import { ClientDisconnected } from './client-disconnected.ts';
import { modelFailure } from './model-failure.ts';

const publicCodes: ReadonlySet<string> = new Set(serviceErrorCodes);

const nothingChanged = 'Nothing was changed.';

/** The failure as clients see it. An unexpected error becomes `INTERNAL_ERROR`. The original error is the `cause`, for the log. */
export function publicFailure(error: unknown): ParleyError {
  if (!(error instanceof ParleyError)) return internalError(error);
  const { code, session_id, message_id } = error;
  // If the message of a chat was stored, only the reply can be lost.
  const isStored = session_id !== null;
  const facts = (advice: string, retryAfter: number | null, unstoredNote = '') => {
    const note = isStored ? `The message is kept in session ${session_id}; the reply is not.` : unstoredNote;
    return { session_id, message_id, cause: error, retryAfter, hint: `${note} ${advice}`.trim() };
  };
  if (code === 'STORE_BUSY') {
    const message = 'The store is locked by another program.';
    return new ParleyError('UNAVAILABLE', message, facts('Try again in a moment.', 1, nothingChanged));
  }
  if (code === 'STORE_NEWER') {
    const advice = 'The operator must restart the server with the newer version.';
    const message = 'The store was migrated by a newer version of Parley.';
    return new ParleyError('UNAVAILABLE', message, facts(advice, 5));
  }
  // For example, the database's user has no right on a table.
  if (code === 'STORE_UNSAFE') {
    const advice = 'The operator can find the cause in the log of the server.';
    const message = 'The server may not use its store for this.';
    return new ParleyError('UNAVAILABLE', message, facts(advice, 5, nothingChanged));
  }
  if (code === 'STORAGE_FULL') {
    const outcome = isStored ? 'the reply was not kept' : 'this was not done';
    const message = `The storage of the server is full: ${outcome}.`;
    return new ParleyError(code, message, facts('Try again after the operator has freed space.', null));
  }
  // A mode has an invalid setting. The log of the server and the list of its modes name the setting.
  if (code === 'CONFIG') {
    const advice = 'The operator can find the cause in the server’s log. Another mode may work.';
    const message = `The server is not set up correctly for this request${isStored ? '' : ': nothing was kept'}.`;
    return new ParleyError('ENGINE_FAILED', message, facts(advice, null));
  }
  if (code === 'INTERNAL_ERROR' || !publicCodes.has(code)) return internalError(error);
  if (code === 'ENGINE_FAILED' || modelServerProblemOf(error) !== null) return modelFailure(error);
  if (code === 'UNAVAILABLE' && comesFromDatabase(error)) {
    const message = 'The store of the server cannot do this at the moment.';
    return new ParleyError(code, message, facts('Try again in a moment.', error.retryAfter ?? 1));
  }
  return error;
}

/**
 * True if the failure was caused by an error of the database. Its text then names the database and its address. The server's own failures
 * with this code have no cause.
 */
function comesFromDatabase({ cause }: ParleyError): boolean {
  if (hasCode(cause, 'UNAVAILABLE')) return comesFromDatabase(cause);
  return cause !== undefined;
}

/** Adds the session and the message to a failure of a chat whose message was stored. */
export function withSession(error: unknown, { session_id, message_id }: ChatStart): unknown {
  if (error instanceof ClientDisconnected) return error;
  const failure = error instanceof ParleyError ? error : internalError(error);
  if (failure.session_id !== null) return failure;
  const hint = `${failure.hint} The message is kept in session ${session_id}.`.trim();
  return failure.with({ hint, session_id, message_id });
}

function internalError(cause: unknown): ParleyError {
  const { session_id, message_id } =
    cause instanceof ParleyError ? cause : { session_id: null, message_id: null };
  return new ParleyError('INTERNAL_ERROR', 'An unexpected error occurred in the server.', {
    hint: 'The log of the server has the details, under the request_id of this response.',
    session_id,
    message_id,
    cause,
  });
}
