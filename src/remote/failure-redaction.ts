// Removes the key from failures. A server may repeat the key in its error, or in the address that it redirects to, and failures go to
// screens and into logs. The text of a success stays as it is.

import { HttpFailure } from '../http/http-failure.ts';
import { redactKey } from '../http/key-redaction.ts';
import { ParleyError } from '../service/errors.ts';

/**
 * In this many characters of one failure all forms of the key are searched, at up to a microsecond each; in the rest only the key
 * itself.
 */
const mostCharacters = 1024 * 1024;

export function redactFailure(failure: HttpFailure, apiKey: string): HttpFailure {
  const message = redactKey(failure.message, apiKey);
  if (message === failure.message) return failure;
  return new HttpFailure(failure.kind, failure.sent, message, failure.cause, failure.stale);
}

/** Every text of a server in the failure is cleaned. Other errors are returned as they are. */
export function redactError(error: unknown, apiKey: string): unknown {
  if (error instanceof HttpFailure) return redactFailure(error, apiKey);
  if (!(error instanceof ParleyError)) return error;
  const { code, remedy, retryAfter, mayHaveActed, cause } = error;
  const clean = new ValueWithoutKey(apiKey);
  const message = clean.text(error.message);
  const facts = {
    hint: clean.text(error.hint),
    details: error.details.map(({ field, problem }) => ({
      field: clean.text(field),
      problem: clean.text(problem),
    })),
    session_id: error.session_id && clean.text(error.session_id),
    message_id: error.message_id && clean.text(error.message_id),
    body: clean.value(error.body),
  };
  const cleanCause = redactError(cause, apiKey);
  if (!clean.hasChanged && cleanCause === cause) return error;
  return new ParleyError(code, message, { ...facts, remedy, retryAfter, mayHaveActed, cause: cleanCause });
}

/** Removes the key from the texts and JSON values of one failure. */
class ValueWithoutKey {
  readonly #apiKey: string;
  #left = mostCharacters;
  hasChanged = false;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  text(text: string): string {
    this.#left -= text.length;
    const apiKey = this.#apiKey;
    const clean = this.#left < 0 && apiKey !== '' ? text.replaceAll(apiKey, '') : redactKey(text, apiKey);
    this.hasChanged ||= clean !== text;
    return clean;
  }

  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [this.text(name), this.value(inner)]),
    );
  }
}
