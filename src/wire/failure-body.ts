// A failure as a server tells it, made one of this program's own. A code that Parley does not know becomes the one that the status
// stands for; the server's own words are kept.
import { type ErrorCode, type ErrorDetail, ParleyError, serviceErrorCodes } from '../service/errors.ts';
import { fieldOf, firstText, textOrNull } from './json-value.ts';
import type { ReceivedAnswer } from './received-answer.ts';

/** An answer of 401, whatever its body. */
export function refusedKey(body: unknown): ParleyError {
  return new ParleyError('INVALID_API_KEY', wordsOf(body, null) ?? 'The server refused the key.', {
    body: body ?? null,
  });
}

/** An answer with a status of failure, or with `success: false`. */
export function failureOfAnswer(answer: ReceivedAnswer, body: unknown): ParleyError {
  const { status, retryAfter, asked } = answer;
  const told = codeTold(body);
  if (body === undefined && status !== 429 && status !== 503)
    return notThisApi(answer, body, 'not with JSON that can be read');
  const code = knownCode(told) ?? codeOfStatus(status);
  const wait = retryAfter === null ? '' : `The server asks to wait ${retryAfter} s.`;
  return new ParleyError(code, wordsOf(body, code) ?? `${asked} failed with status ${status}.`, {
    hint: wait,
    ...(retryAfter !== null && { retryAfter }),
    // A gateway that fails otherwise may have passed the request on.
    mayHaveActed: code === 'UNAVAILABLE' && status !== 503,
    ...factsOf(body),
  });
}

/** The event `error` of a stream: it has no status. */
export function failureOfEvent(body: unknown): ParleyError {
  const code = knownCode(codeTold(body)) ?? 'ENGINE_FAILED';
  const message = wordsOf(body, code) ?? 'The server ended the reply with an error.';
  return new ParleyError(code, message, factsOf(body));
}

/** What answers is not a conversation service, or not one that keeps to the interface document. */
export function notThisApi(answer: ReceivedAnswer, body: unknown, problem: string): ParleyError {
  const { asked, status } = answer;
  const message = `${asked} was answered with status ${status}, but ${problem}.`;
  return new ParleyError('BAD_RESPONSE', message, {
    hint: 'Check the URL: it must be the base of a conversation service, without /v1.',
    body: body ?? null,
  });
}

export function codeTold(body: unknown): string | null {
  const error = fieldOf(body, 'error');
  return firstText(fieldOf(error, 'code'), fieldOf(body, 'code'), error);
}

/** The server's words on one line, with its code where Parley's own does not say it. */
function wordsOf(body: unknown, code: ErrorCode | null): string | null {
  const error = fieldOf(body, 'error');
  const told = codeTold(body);
  const text = firstText(fieldOf(error, 'message'), fieldOf(body, 'message'), error) ?? told;
  if (text === null) return null;
  const line = text.replace(/\s+/g, ' ').trim().slice(0, 2000);
  return told === null || told === code || code === null || text === told
    ? line
    : `${line} [${told.slice(0, 100)}]`;
}

/** Only what a server may say: that something is wrong with a flag or a file on this side is not for it to tell. */
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
    ...(session_id !== null && { session_id }),
    ...(message_id !== null && { message_id }),
    body: body ?? null,
  };
}

function detailsOf(value: unknown): readonly ErrorDetail[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const field = fieldOf(item, 'field');
    const problem = fieldOf(item, 'problem');
    return typeof field === 'string' && typeof problem === 'string' ? [{ field, problem }] : [];
  });
}
