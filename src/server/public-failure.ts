// The failures that clients get: the codes of the API, without files, locks, addresses of model servers or code.
import type { ChatStart } from '../service/chat-event.ts';
import { ParleyError, serviceErrorCodes } from '../service/errors.ts';
import { modelServerProblemOf } from '../service/model-server-problem.ts';
import { ClientDisconnected } from './client-disconnected.ts';
import { modelFailure } from './model-failure.ts';

const publicCodes: ReadonlySet<string> = new Set(serviceErrorCodes);

/** The failure as clients get it. Any other error becomes `INTERNAL_ERROR`. The original error is the `cause`, for the log. */
export function publicFailure(error: unknown): ParleyError {
  if (!(error instanceof ParleyError)) return internalError(error);
  const { session_id, message_id } = error;
  const place = { session_id, message_id, cause: error };
  // Of a chat whose message was stored, only the reply can be lost.
  const kept = session_id === null ? null : `The message is kept in session ${session_id}; the reply is not.`;
  if (error.code === 'STORE_BUSY') {
    return new ParleyError('UNAVAILABLE', 'The store is locked by another program.', {
      ...place,
      hint: `${kept ?? 'Nothing was changed.'} Try again in a moment.`,
      retryAfter: 1,
    });
  }
  if (error.code === 'STORE_NEWER') {
    return new ParleyError('UNAVAILABLE', 'The store was changed by a newer version than this server is.', {
      ...place,
      hint: `${kept ?? ''} Its operator starts the server again, in the newer version.`.trim(),
      retryAfter: 5,
    });
  }
  if (error.code === 'STORAGE_FULL') {
    const what = kept === null ? 'this was not done' : 'the reply was not kept';
    return new ParleyError('STORAGE_FULL', `The storage of the server is full: ${what}.`, {
      ...place,
      hint: `${kept ?? ''} Try again when its operator has made room.`.trim(),
    });
  }
  // A mode has a faulty setting. The log of the server and the list of its modes name the setting.
  if (error.code === 'CONFIG') {
    const what = kept === null ? ': nothing was kept' : '';
    return new ParleyError('ENGINE_FAILED', `The server is not set up correctly for this request${what}.`, {
      ...place,
      hint: `${kept ?? ''} Its operator finds what is wrong in its log. Another mode may work.`.trim(),
    });
  }
  if (error.code === 'INTERNAL_ERROR' || !publicCodes.has(error.code)) return internalError(error);
  if (error.code === 'ENGINE_FAILED' || modelServerProblemOf(error) !== null) return modelFailure(error);
  if (error.code === 'UNAVAILABLE' && isOfDatabase(error)) {
    return new ParleyError('UNAVAILABLE', 'The store of the server cannot do this at the moment.', {
      ...place,
      hint: `${kept ?? ''} Try again in a moment.`.trim(),
      retryAfter: error.retryAfter ?? 1,
    });
  }
  return error;
}

/**
 * True if the failure was caused by an error of another program. Its text then names the database and its address. The server's own
 * failures with this code have no cause.
 */
function isOfDatabase({ cause }: ParleyError): boolean {
  return cause instanceof ParleyError ? isOfDatabase(cause) : cause !== undefined;
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
  return new ParleyError('INTERNAL_ERROR', 'Something unforeseen went wrong in the server.', {
    hint: 'The log of the server has details under the request_id of this answer.',
    session_id,
    message_id,
    cause,
  });
}
