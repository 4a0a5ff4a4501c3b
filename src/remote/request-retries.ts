// Decides when a request is sent again. A server must not run a turn twice that the user sent once. A POST is therefore sent again only if
// it never left, if the server refused it, or if the server is known to honour idempotency keys.
import { HttpFailure } from '../http/http-failure.ts';
import type { Call } from '../service/call.ts';
import type { Route } from '../wire/routes.ts';

/** A response with status 429 or 503: the server asks the client to retry later. */
export interface RetryLater {
  /** The seconds that the server asks to wait; null if it names none. */
  readonly retryAfter: number | null;
}

export interface RetryOptions {
  readonly method: Route['method'];
  /** True if the server is known to honour idempotency keys. */
  readonly honoursKeys: () => boolean;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
  readonly notice: Call['notice'];
}

/** The most attempts of one request. */
const maxAttempts = 5;
/** The most attempts if no connection can be made, so that a stopped server is reported soon. */
const maxConnectAttempts = 3;
const firstPauseMs = 250;
/** If the server asks for a longer wait (seconds), the failure is reported instead. */
const maxPauseSeconds = 30;

/** The attempts of one request. */
export class RequestRetries {
  readonly #options: RetryOptions;
  #attempts = 1;
  #mayHaveActed = false;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** True if the request was sent again after an attempt that the server may have carried out. */
  get mayHaveActed(): boolean {
    return this.#mayHaveActed;
  }

  /** Resolves to true, after a pause, if the request is to be sent again; to false if the outcome is to be reported. */
  async next(outcome: HttpFailure | RetryLater): Promise<boolean> {
    const isFailure = outcome instanceof HttpFailure;
    const limit = isFailure && !outcome.isSent ? maxConnectAttempts : maxAttempts;
    if (this.#attempts >= limit || (isFailure && !this.#isAllowed(outcome))) return false;
    const retryAfter = isFailure ? null : outcome.retryAfter;
    if (retryAfter !== null && retryAfter > maxPauseSeconds) return false;
    const { random, wait, signal, notice } = this.#options;
    const pause = firstPauseMs * 2 ** (this.#attempts - 1) * (0.5 + random());
    const ms = retryAfter === null ? pause : retryAfter * 1000 + pause;
    if (!isFailure) notice?.({ kind: 'turned_away', seconds: Math.ceil(ms / 1000) });
    await wait(ms, signal);
    this.#attempts += 1;
    this.#mayHaveActed ||= !isFailure || outcome.isSent;
    return true;
  }

  #isAllowed({ kind, isSent }: HttpFailure): boolean {
    if (!isSent) return ['refused', 'unreachable', 'lookup', 'broken'].includes(kind);
    if (kind !== 'broken') return false;
    switch (this.#options.method) {
      case 'GET':
      case 'DELETE':
        return true;
      case 'POST':
        return this.#options.honoursKeys();
      case 'PATCH':
        return false;
    }
  }
}
