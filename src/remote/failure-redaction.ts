// Removes the key from failures. A server may repeat the key in its error, or in the address of a redirect, and failures are shown and
// logged. The text of a success is not changed.
import { HttpFailure } from '../http/http-failure.ts';
import { redactKey } from '../http/key-redaction.ts';
import { ParleyError } from '../service/errors.ts';
import { ExactNumber } from '../service/exact-number.ts';

/**
 * The characters of one failure in which all forms of the key are searched, at up to a microsecond each. In the rest only the key itself
 * is searched.
 */
const maxCharacters = 1024 * 1024;

export function redactFailure(failure: HttpFailure, apiKey: string): HttpFailure {
  const message = redactKey(failure.message, apiKey);
  if (message === failure.message) return failure;
  return new HttpFailure(failure.kind, message, {
    isSent: failure.isSent,
    isStale: failure.isStale,
    cause: failure.cause,
  });
}

/** Removes the key from every text of a server in the failure. Other errors are returned unchanged. */
export function redactError(error: unknown, apiKey: string): unknown {
  if (error instanceof HttpFailure) return redactFailure(error, apiKey);
  if (!(error instanceof ParleyError)) return error;
  const redaction = new Redaction(apiKey);
  const message = redaction.text(error.message);
  const facts = {
    hint: redaction.text(error.hint),
    details: error.details.map(({ field, problem }) => ({
      field: redaction.text(field),
      problem: redaction.text(problem),
    })),
    session_id: error.session_id && redaction.text(error.session_id),
    message_id: error.message_id && redaction.text(error.message_id),
    body: redaction.value(error.body),
  };
  const cause = redactError(error.cause, apiKey);
  if (!redaction.hasChanged && cause === error.cause) return error;
  return error.with({ ...facts, message, cause });
}

/** Removes the key from the texts and JSON values of one failure. */
class Redaction {
  readonly #apiKey: string;
  #remaining = maxCharacters;
  hasChanged = false;

  constructor(apiKey: string) {
    this.#apiKey = apiKey;
  }

  text(text: string): string {
    this.#remaining -= text.length;
    const apiKey = this.#apiKey;
    const clean =
      this.#remaining < 0 && apiKey !== '' ? text.replaceAll(apiKey, '') : redactKey(text, apiKey);
    this.hasChanged ||= clean !== text;
    return clean;
  }

  value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [this.text(name), this.value(inner)]),
    );
  }
}
