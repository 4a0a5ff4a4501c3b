// When a request is sent again. A server must never get a turn twice that the user said once, so a POST goes again only if it
// never left, if the server turned it away, or if the server is known to tell a repetition by its key.
import { HttpFailure } from '../http/http-failure.ts';
import type { Route } from '../wire/routes.ts';

/** The server is there and did not want the request now: status 429 or 503. */
export interface TurnedAway {
  /** Seconds; null where the server says none. */
  readonly retryAfter: number | null;
}

export interface ResendingOptions {
  readonly method: Route['method'];
  /** Whether the server is known, by now, to honour the key of a request. */
  readonly honoursKeys: () => boolean;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** In all; fewer where nothing answers, so that a server that is down is soon told of. */
const mostSendings = 5;
const mostConnectings = 3;
const firstPauseMs = 250;
const longestPauseSeconds = 30;

/** The sendings of one request. */
export class Resending {
  readonly #options: ResendingOptions;
  #count = 1;
  #mayHaveActed = false;

  constructor(options: ResendingOptions) {
    this.#options = options;
  }

  /** True once the request was sent again after a sending that may have done its work. */
  get mayHaveActed(): boolean {
    return this.#mayHaveActed;
  }

  /** Waits and resolves true if the request is to be sent again; false if what happened is to be told. */
  async again(outcome: HttpFailure | TurnedAway): Promise<boolean> {
    const most = outcome instanceof HttpFailure && !outcome.sent ? mostConnectings : mostSendings;
    if (this.#count >= most || !this.#isAllowed(outcome)) return false;
    const told = outcome instanceof HttpFailure ? null : outcome.retryAfter;
    if (told !== null && told > longestPauseSeconds) return false;
    const { random, wait, signal } = this.#options;
    const pause = firstPauseMs * 2 ** (this.#count - 1) * (0.5 + random());
    await wait(told === null ? pause : told * 1000 + pause, signal);
    this.#count += 1;
    this.#mayHaveActed ||= !(outcome instanceof HttpFailure) || outcome.sent;
    return true;
  }

  #isAllowed(outcome: HttpFailure | TurnedAway): boolean {
    if (!(outcome instanceof HttpFailure)) return true;
    if (!outcome.sent) return ['refused', 'unreachable', 'lookup', 'broken'].includes(outcome.kind);
    if (outcome.kind !== 'broken') return false;
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
