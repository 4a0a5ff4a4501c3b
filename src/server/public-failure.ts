// What of a failure leaves the process: the codes of the API, and no word on files, locks or the code behind it.
import type { ChatStart } from '../service/chat-event.ts';
import { ParleyError, serviceErrorCodes } from '../service/errors.ts';
import { ClientGone } from './client-gone.ts';

const publicCodes: ReadonlySet<string> = new Set(serviceErrorCodes);

export function publicFailure(error: unknown): ParleyError {
  if (!(error instanceof ParleyError)) return internalError(error);
  const place = {
    ...(error.session_id !== null && { session_id: error.session_id }),
    ...(error.message_id !== null && { message_id: error.message_id }),
    cause: error,
  };
  // After its message was kept, a chat can lose the reply alone.
  const { session_id } = error;
  const kept = session_id === null ? null : `The message is kept in session ${session_id}; the reply is not.`;
  if (error.code === 'STORE_BUSY') {
    return new ParleyError('UNAVAILABLE', 'The store is locked by another program.', {
      ...place,
      hint: `${kept ?? 'Nothing was changed.'} Try again in a moment.`,
      retryAfter: 1,
    });
  }
  if (error.code === 'STORAGE_FULL') {
    const what = kept === null ? 'this' : 'the reply';
    return new ParleyError('STORAGE_FULL', `The storage of the server is full: ${what} was not kept.`, {
      ...place,
      hint: `${kept ?? ''} Try again when its operator has made room.`.trim(),
    });
  }
  // A mode of which the server's operator has broken a setting: that is known to the log and to `parley modes list` there.
  if (error.code === 'CONFIG') {
    const what = kept === null ? ': nothing was kept' : '';
    return new ParleyError('ENGINE_FAILED', `The server is set up wrongly for this${what}.`, {
      ...place,
      hint: `${kept ?? ''} Its operator finds what is wrong in its log. Another mode may work.`.trim(),
    });
  }
  if (error.code === 'INTERNAL_ERROR' || !publicCodes.has(error.code)) return internalError(error);
  return error;
}

/** A failure of a chat after its message was kept: it says where that is. */
export function placed(error: unknown, { session_id, message_id }: ChatStart): unknown {
  if (error instanceof ClientGone) return error;
  const failure = error instanceof ParleyError ? error : internalError(error);
  if (failure.session_id !== null) return failure;
  return new ParleyError(failure.code, failure.message, {
    hint: `${failure.hint} The message is kept in session ${session_id}.`.trim(),
    details: failure.details,
    session_id,
    message_id,
    ...(failure.retryAfter !== null && { retryAfter: failure.retryAfter }),
    cause: error,
  });
}

function internalError(cause: unknown): ParleyError {
  const place = cause instanceof ParleyError ? cause : null;
  return new ParleyError('INTERNAL_ERROR', 'Something unforeseen went wrong in the server.', {
    hint: 'Its log has more under the request_id of this answer.',
    ...(place?.session_id && { session_id: place.session_id }),
    ...(place?.message_id && { message_id: place.message_id }),
    cause,
  });
}
