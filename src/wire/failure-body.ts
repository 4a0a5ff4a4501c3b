// Turns the failure that a server sent into a failure of Parley. An unknown code is replaced by the code of the status. The server's text is
// kept.
import { fieldOf, firstText, textOrNull } from '../http/foreign-json.ts';
import { duration } from '../service/duration.ts';
import { type ErrorCode, type ErrorDetail, ParleyError, serviceErrorCodes } from '../service/errors.ts';
import type { BudgetLeft } from '../service/key-limits.ts';
import { asksToRetry } from './error-status.ts';

const checkUrl = 'Check the URL: it must be the base of a conversation service, without /v1.';

/** The response to one request, before its body is read. */
export interface ReceivedResponse {
  readonly status: number;
  /** Seconds, from the header `Retry-After`; null if the header is missing or cannot be read. */
  readonly retryAfter: number | null;
  readonly text: string;
  /** The request, for messages: `GET https://host/v1/models`. */
  readonly request: string;
}

/** The failure of a response with status 401, whatever its body. */
export function failureOfRefusedKey(body: unknown): ParleyError {
  return new ParleyError('INVALID_API_KEY', messageOf(body, null) ?? 'The server refused the key.', {
    body: body ?? null,
  });
}

/** The failure of a response with an error status, or with `success: false`. */
export function failureOfResponse(response: ReceivedResponse, body: unknown): ParleyError {
  const { status, retryAfter, request } = response;
  if (body === undefined && !asksToRetry(status)) {
    const failure = badResponse(response, body, notJson);
    const hint = gatewayHint(response);
    return hint === null ? failure : failure.with({ hint, mayHaveActed: status !== 413 });
  }
  const code = knownCode(reportedCode(body)) ?? codeOfStatus(status);
  const wait = retryAfter === null ? '' : `The server asks you to wait ${duration(retryAfter)}.`;
  // The paths of this API are fixed, so a missing path means that the URL is wrong. The server's own message may not say so.
  const place = code === 'NOT_FOUND' ? `The request was ${request}. ${checkUrl}` : '';
  return new ParleyError(code, messageOf(body, code) ?? `${request} failed with status ${status}.`, {
    hint: `${wait} ${place}`.trim(),
    ...(retryAfter !== null && { retryAfter }),
    // A gateway that reports any other failure may have forwarded the request.
    mayHaveActed: code === 'UNAVAILABLE' && status !== 503,
    ...factsOf(body),
  });
}

/** The next step after a status that gateways send without a body of this API; null for any other status. */
function gatewayHint({ status, request }: ReceivedResponse): string | null {
  if (status === 413) {
    return 'A gateway in front of the server accepts no request of this size. Send less, or ask its operator to raise its limit.';
  }
  // 520 and above: Cloudflare.
  if (status !== 502 && status !== 504 && (status < 520 || status > 530)) return null;
  const warning = request.startsWith('GET ')
    ? ''
    : ' The server may have carried out the request: check before you repeat it.';
  return `A gateway in front of the server got no response from it. Try again in a moment.${warning}`;
}

/** The failure of the stream event `error`, which has no status. */
export function failureOfEvent(body: unknown): ParleyError {
  const code = knownCode(reportedCode(body)) ?? 'ENGINE_FAILED';
  const message = messageOf(body, code) ?? 'The server ended the reply with an error.';
  return new ParleyError(code, message, factsOf(body));
}

/** The fault of a body that is not JSON, for {@link badResponse}. */
export const notJson = 'the body is not valid JSON';

/** The failure of a response that does not come from a conversation service, or that violates the interface document. */
export function badResponse(response: ReceivedResponse, body: unknown, problem: string): ParleyError {
  const { request, status } = response;
  const message = `${request} returned status ${status}, but ${problem}.`;
  return new ParleyError('BAD_RESPONSE', message, {
    hint: checkUrl,
    body: body ?? null,
  });
}

/** The error code as the server sent it; null if the body has none. */
export function reportedCode(body: unknown): string | null {
  const error = fieldOf(body, 'error');
  return firstText(fieldOf(error, 'code'), fieldOf(body, 'code'), error);
}

/** The server's message on one line, followed by the server's code if Parley uses another code. */
function messageOf(body: unknown, code: ErrorCode | null): string | null {
  const error = fieldOf(body, 'error');
  const reported = reportedCode(body);
  const text = firstText(fieldOf(error, 'message'), fieldOf(body, 'message'), error) ?? reported;
  if (text === null) return null;
  const line = onOneLine(text).slice(0, 2000);
  const isKnown = reported === null || reported === code || code === null || text === reported;
  return isKnown ? line : `${line} [${onOneLine(reported).slice(0, 100)}]`;
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The code, if a server may send it. A server cannot report an invalid option or file of the client. */
function knownCode(reported: string | null): ErrorCode | null {
  return serviceErrorCodes.find((code) => code === reported) ?? null;
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
  const budget = (name: string) => {
    const value = fieldOf(remaining, name);
    return typeof value === 'number' ? value : null;
  };
  return { turns: budget('turns'), tokens: budget('tokens') };
}

function detailsOf(value: unknown): readonly ErrorDetail[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const field = fieldOf(item, 'field');
    const problem = fieldOf(item, 'problem');
    return typeof field === 'string' && typeof problem === 'string' ? [{ field, problem }] : [];
  });
}
