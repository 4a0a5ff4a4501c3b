// The envelope: every body has a top-level boolean `success` (interface document, sections 2 and 7).
import type { ParleyError } from './errors.ts';

/** The result of a service call, and the whole body that carried it. */
export interface Result<T> {
  readonly data: T;
  /** `{"success":true,"data":…}` of this service, or the whole body of a third-party server. */
  readonly body: unknown;
}

/** The result of this service, with its own envelope as the body. */
export function resultOf<T>(data: T): Result<T> {
  return { data, body: { success: true, data } };
}

/** The body of a failure: the server's own body, or else one of this service. `requestId` is null if the service was not called. */
export function failureBody(error: ParleyError, requestId: string | null): unknown {
  if (error.body !== null) return error.body;
  return {
    success: false,
    error: failureFacts(error),
    ...(requestId !== null && { request_id: requestId }),
  };
}

/** The field `error` of this service's failure bodies, for any failure. */
export function failureFacts(error: ParleyError) {
  return {
    code: error.code,
    message: error.hint === '' ? error.message : `${error.message} ${error.hint}`,
    ...(error.details.length > 0 && { details: error.details }),
    ...(error.remaining !== null && { details: { remaining: error.remaining } }),
    ...(error.session_id !== null && { session_id: error.session_id }),
    ...(error.message_id !== null && { message_id: error.message_id }),
  };
}
