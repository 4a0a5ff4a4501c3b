// Failures without the key. A server may repeat the key in its error or in the address that it redirects to, and failures go to screens
// and into logs. What a server tells as a success stays as it is.
import { HttpFailure } from '../http/http-failure.ts';

/** Every key is longer; a shorter text would be found where no key is meant. */
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

/** The text of an answer: without the key unless it tells a success. */
export function answerWithoutKey(text: string, status: number, apiKey: string): string {
  const isFailure = status > 299 || /"success"\s*:\s*false/.test(text);
  return isFailure ? withoutKey(text, apiKey) : text;
}
