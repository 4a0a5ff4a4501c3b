// The failures that clients see: the codes of the API, without files, locks, addresses of model servers or code.
import type { ChatStart } from '../service/chat-event.ts';
import { hasCode, ParleyError, serviceErrorCodes } from '../service/errors.ts';
import { modelServerProblemOf } from '../service/model-server-problem.ts';
import { ClientDisconnected } from './client-disconnected.ts';
import { modelFailure } from './model-failure.ts';

const publicCodes: ReadonlySet<string> = new Set(serviceErrorCodes);

/** The failure as clients see it. An unexpected error becomes `INTERNAL_ERROR`. The original error is the `cause`, for the log. */
export function publicFailure(error: unknown): ParleyError {
  if (!(error instanceof ParleyError)) return internalError(error);
  const { session_id, message_id } = error;
  const facts = { session_id, message_id, cause: error };
  // If the message of a chat was stored, only the reply can be lost.
  const storedNote =
    session_id === null ? null : `The message is kept in session ${session_id}; the reply is not.`;
  if (error.code === 'STORE_BUSY') {
    return new ParleyError('UNAVAILABLE', 'The store is locked by another program.', {
      ...facts,
      hint: `${storedNote ?? 'Nothing was changed.'} Try again in a moment.`,
      retryAfter: 1,
    });
  }
  if (error.code === 'STORE_NEWER') {
    return new ParleyError('UNAVAILABLE', 'The store was migrated by a newer version of Parley.', {
      ...facts,
      hint: `${storedNote ?? ''} The operator must restart the server with the newer version.`.trim(),
      retryAfter: 5,
    });
  }
  // For example, the database's user has no right on a table.
  if (error.code === 'STORE_UNSAFE') {
    return new ParleyError('UNAVAILABLE', 'The server may not use its store for this.', {
      ...facts,
      hint: `${storedNote ?? 'Nothing was changed.'} The operator can find the cause in the log of the server.`,
      retryAfter: 5,
    });
  }
  if (error.code === 'STORAGE_FULL') {
    const outcome = storedNote === null ? 'this was not done' : 'the reply was not kept';
    return new ParleyError('STORAGE_FULL', `The storage of the server is full: ${outcome}.`, {
      ...facts,
      hint: `${storedNote ?? ''} Try again after the operator has freed space.`.trim(),
    });
  }
  // A mode has an invalid setting. The log of the server and the list of its modes name the setting.
  if (error.code === 'CONFIG') {
    const outcome = storedNote === null ? ': nothing was kept' : '';
    return new ParleyError(
      'ENGINE_FAILED',
      `The server is not set up correctly for this request${outcome}.`,
      {
        ...facts,
        hint: `${storedNote ?? ''} The operator can find the cause in the server’s log. Another mode may work.`.trim(),
      },
    );
  }
  if (error.code === 'INTERNAL_ERROR' || !publicCodes.has(error.code)) return internalError(error);
  if (error.code === 'ENGINE_FAILED' || modelServerProblemOf(error) !== null) return modelFailure(error);
  if (error.code === 'UNAVAILABLE' && comesFromDatabase(error)) {
    return new ParleyError('UNAVAILABLE', 'The store of the server cannot do this at the moment.', {
      ...facts,
      hint: `${storedNote ?? ''} Try again in a moment.`.trim(),
      retryAfter: error.retryAfter ?? 1,
    });
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
