// Turns the failure that a server sent into a failure of Parley. A code that Parley does not know is replaced by the code of the status.
// The server's own text is kept.
import { fieldOf, firstText, textOrNull } from '../http/foreign-json.ts';
import { duration } from '../service/duration.ts';
import { type ErrorCode, type ErrorDetail, ParleyError, serviceErrorCodes } from '../service/errors.ts';
import type { BudgetLeft } from '../service/key-limits.ts';
import { isTurnedAway } from './error-status.ts';

const checkUrl = 'Check the URL: it must be the base of a conversation service, without /v1.';

/** The response to one request, before its body is read. */
export interface ReceivedResponse {
  readonly status: number;
  /** Seconds, from the header `Retry-After`; null if the header is missing or cannot be read. */
  readonly retryAfter: number | null;
  readonly text: string;
  /** The request, for messages: `GET https://host/v1/models`. */
  readonly asked: string;
}

/** The failure of a response with status 401, whatever its body. */
export function refusedKey(body: unknown): ParleyError {
  return new ParleyError('INVALID_API_KEY', wordsOf(body, null) ?? 'The server refused the key.', {
    body: body ?? null,
  });
}

/** The failure of a response with an error status, or with `success: false`. */
export function failureOfResponse(response: ReceivedResponse, body: unknown): ParleyError {
  const { status, retryAfter, asked } = response;
  const told = codeTold(body);
  if (body === undefined && !isTurnedAway(status))
    return notThisApi(response, body, 'not with JSON that can be read');
  const code = knownCode(told) ?? codeOfStatus(status);
  const wait = retryAfter === null ? '' : `The server asks to wait ${duration(retryAfter)}.`;
  // The paths of this API are fixed, so a missing path means that the URL is wrong. The server's words may not name it.
  const place = code === 'NOT_FOUND' ? `The request was ${asked}. ${checkUrl}` : '';
  return new ParleyError(code, wordsOf(body, code) ?? `${asked} failed with status ${status}.`, {
    hint: `${wait} ${place}`.trim(),
    ...(retryAfter !== null && { retryAfter }),
    // A gateway with any other failure may have passed the request on.
    mayHaveActed: code === 'UNAVAILABLE' && status !== 503,
    ...factsOf(body),
  });
}

/** The failure of the stream event `error`, which has no status. */
export function failureOfEvent(body: unknown): ParleyError {
  const code = knownCode(codeTold(body)) ?? 'ENGINE_FAILED';
  const message = wordsOf(body, code) ?? 'The server ended the reply with an error.';
  return new ParleyError(code, message, factsOf(body));
}

/** The failure of a response that does not come from a conversation service, or that breaks the interface document. */
export function notThisApi(response: ReceivedResponse, body: unknown, problem: string): ParleyError {
  const { asked, status } = response;
  const message = `${asked} was answered with status ${status}, but ${problem}.`;
  return new ParleyError('BAD_RESPONSE', message, {
    hint: checkUrl,
    body: body ?? null,
  });
}

/** The error code as the server sent it; null if the body has none. */
export function codeTold(body: unknown): string | null {
  const error = fieldOf(body, 'error');
  return firstText(fieldOf(error, 'code'), fieldOf(body, 'code'), error);
}

/** The server's message on one line, followed by the server's code if Parley uses another code. */
function wordsOf(body: unknown, code: ErrorCode | null): string | null {
  const error = fieldOf(body, 'error');
  const told = codeTold(body);
  const text = firstText(fieldOf(error, 'message'), fieldOf(body, 'message'), error) ?? told;
  if (text === null) return null;
  const line = onOneLine(text).slice(0, 2000);
  return told === null || told === code || code === null || text === told
    ? line
    : `${line} [${onOneLine(told).slice(0, 100)}]`;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The code, if a server may send it. A server must not report a wrong option or file of the client. */
function knownCode(told: string | null): ErrorCode | null {
  return serviceErrorCodes.find((code) => code === told) ?? null;
}

const statusCodes: ReadonlyMap<number, ErrorCode> = new Map([
  [400, 'INVALID_REQUEST'],
  [404, 'NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [409, 'SESSION_BUSY'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
  [422, 'INVALID_REQUEST'],
  [429, 'RATE_LIMITED'],
  [500, 'INTERNAL_ERROR'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'ENGINE_TIMEOUT'],
  [507, 'STORAGE_FULL'],
]);

function codeOfStatus(status: number): ErrorCode {
  return statusCodes.get(status) ?? (status >= 500 && status <= 599 ? 'INTERNAL_ERROR' : 'BAD_RESPONSE');
}

function factsOf(body: unknown) {
  const error = fieldOf(body, 'error');
  const session_id = textOrNull(fieldOf(error, 'session_id'));
  const message_id = textOrNull(fieldOf(error, 'message_id'));
  return {
    details: detailsOf(fieldOf(error, 'details')),
    remaining: remainingOf(fieldOf(error, 'details')),
    ...(session_id !== null && { session_id }),
    ...(message_id !== null && { message_id }),
    body: body ?? null,
  };
}

function remainingOf(details: unknown): BudgetLeft | null {
  const remaining = fieldOf(details, 'remaining');
  if (typeof remaining !== 'object' || remaining === null) return null;
  const left = (name: string) => {
    const value = fieldOf(remaining, name);
    return typeof value === 'number' ? value : null;
  };
  return { turns: left('turns'), tokens: left('tokens') };
}

function detailsOf(value: unknown): readonly ErrorDetail[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const field = fieldOf(item, 'field');
    const problem = fieldOf(item, 'problem');
    return typeof field === 'string' && typeof problem === 'string' ? [{ field, problem }] : [];
  });
}
