// Removes the key from failures. A server may repeat the key in its error, or in the address that it redirects to, and failures go to
// screens and into logs. The text of a success stays as it is.
import { HttpFailure } from '../http/http-failure.ts';

/** A shorter text is not removed: it could stand in words that are no key. Every key is longer. */
const shortestKey = 8;
const hidden = '[key]';

export function withoutKey(text: string, apiKey: string): string {
  return apiKey.length < shortestKey ? text : text.replaceAll(apiKey, hidden);
}

export function failureWithoutKey(failure: HttpFailure, apiKey: string): HttpFailure {
  const message = withoutKey(failure.message, apiKey);
  if (message === failure.message) return failure;
  return new HttpFailure(failure.kind, failure.sent, message, failure.cause, failure.stale);
}

/** The text of a response. The key is removed unless the response is a success. */
export function responseWithoutKey(text: string, status: number, apiKey: string): string {
  const isFailure = status > 299 || /"success"\s*:\s*false/.test(text);
  return isFailure ? withoutKey(text, apiKey) : text;
}
