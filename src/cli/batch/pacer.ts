// Paces the calls of a batch. When a server refuses calls (429, 503), fewer run at once, after a pause, and the refused calls are repeated.
// When it answers, more run at once. The pacer ends the batch when further calls are of no use.
import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorCode, ParleyError } from '../../service/errors.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';

export interface PacerOptions {
  /** The most calls at once. */
  readonly most: number;
  /** The batch ends after this many calls in a row without an answer. */
  readonly mostUnanswered: number;
  /** How often one call is made while the server refuses it and answers other calls. */
  readonly mostTries: number;
  /** True if a call with this failure is repeated. */
  readonly isTurnedAway: (error: ParleyError) => boolean;
  /** Called with a failure that every further call would share. It must abort `signal`. */
  readonly giveUp: (error: ParleyError) => void;
  /** Tells the user what a longer pause waits for. */
  readonly say: (line: string) => void;
  /** Ends every wait: the waiting calls reject. */
  readonly signal: AbortSignal;
  /** 0 to 1. */
  readonly random: () => number;
  /** Milliseconds on a clock that is never set. A test gives its own. */
  readonly now?: () => number;
  /** A test gives its own. */
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

const firstPauseMs = 250;
const longestPauseMs = 30_000;
/** How many pauses may follow each other without an answer in between. They last about a minute in all if the server names no time. */
const mostPauses = 8;
/** A longer wait that a server asks for ends the batch. */
const longestWaitSeconds = 15 * 60;
/** A pause of this length (ms) is reported to the user. */
const noticeableMs = 2000;

export class Pacer {
  readonly #options: PacerOptions;
  /** Not the time of day: a clock that is set back would make a pause as much longer. */
  readonly #now: () => number;
  #most: number;
  #limit: number;
  #running = 0;
  #until = 0;
  #pauses = 0;
  #refusal: ErrorCode | null = null;
  #unanswered = 0;
  #waiting: (() => void)[] = [];
  readonly #hopeless = new WeakSet<ParleyError>();

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonicMs;
    this.#most = options.most;
    this.#limit = options.most;
    options.signal.addEventListener('abort', () => this.#release(this.#waiting.length));
  }

  /** How many calls may run at once now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** How long (ms) the next call must wait. */
  get pauseMs(): number {
    return Math.max(0, this.#until - this.#now());
  }

  /** Who has turned the last call away, and how: `HOST says 429`. Null for a service without a host, and before the first refusal. */
  refusalOf(url: string | null): string | null {
    const status = this.#refusal === 'RATE_LIMITED' ? 429 : this.#refusal === 'UNAVAILABLE' ? 503 : null;
    return url === null || status === null ? null : `${new URL(url).host} says ${status}`;
  }

  /** True for a failure that ended the batch, or would have ended it. */
  gaveUpOn(error: unknown): boolean {
    return error instanceof ParleyError && this.#hopeless.has(error);
  }

  /** Sets how many calls may run at once from now on. */
  allow(most: number): void {
    this.#most = most;
    this.#limit = most;
  }

  /** Makes the call when it may run, and again each time it is refused. Rejects with its last failure. */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      await this.#turn();
      const begun = this.#now();
      try {
        const result = await call();
        this.#answered();
        return result;
      } catch (error) {
        if (!(error instanceof ParleyError) || !this.#isRepeated(error, begun, tries)) throw error;
      } finally {
        this.#running -= 1;
        this.#release(this.limit - this.#running);
      }
    }
  }

  /** Resolves when a call may begin, and counts it as running. */
  async #turn(): Promise<void> {
    const { signal, wait = (ms) => delay(ms, undefined, { signal }).catch(() => {}) } = this.#options;
    for (;;) {
      if (signal.aborted) throw new Error('The batch was stopped.', { cause: signal.reason });
      const { pauseMs } = this;
      if (pauseMs > 0) await wait(pauseMs);
      else if (this.#running < this.limit) break;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running += 1;
  }

  #release(count: number): void {
    for (const wake of this.#waiting.splice(0, count)) wake();
  }

  #answered(): void {
    this.#pauses = 0;
    this.#unanswered = 0;
    this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit);
  }

  #isRepeated(error: ParleyError, begun: number, tries: number): boolean {
    const { code, kind, retryAfter } = error;
    const { isTurnedAway, mostTries, mostUnanswered } = this.#options;
    if (isTurnedAway(error)) {
      this.#refusal = code;
      this.#turnedAway(begun, retryAfter);
      const isHopeless = this.#pauses > mostPauses || (retryAfter ?? 0) > longestWaitSeconds;
      if (isHopeless) this.#giveUp(error);
      return !isHopeless && tries < mostTries;
    }
    const isAnswer = kind !== 'transient' || code === 'SESSION_BUSY' || code === 'INCOMPLETE_REPLY';
    if (isAnswer && code !== 'STORE_BUSY') this.#answered();
    else this.#unanswered += 1;
    const isForAll =
      kind === 'key' || code === 'BUDGET_EXCEEDED' || (kind === 'store' && code !== 'STORE_BUSY');
    if (isForAll || this.#unanswered >= mostUnanswered) this.#giveUp(error);
    return false;
  }

  #giveUp(error: ParleyError): void {
    this.#hopeless.add(error);
    this.#options.giveUp(error);
  }

  #turnedAway(begun: number, retryAfter: number | null): void {
    const { random, say } = this.#options;
    // Calls that ran at the same time are turned away together: that is one refusal.
    const isNew = begun >= this.#until;
    if (isNew) {
      this.#limit = Math.max(1, this.#limit / 2);
      this.#pauses += 1;
    }
    // If the server names no time, or repeatedly 0, the pauses grow.
    const usual = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.max(0, this.#pauses - 1));
    const pause = Math.max(usual, (retryAfter ?? 0) * 1000);
    this.#until = Math.max(this.#until, this.#now() + pause + (firstPauseMs * random()) / 2);
    if (!isNew || pause < noticeableMs) return;
    const seconds = Math.ceil(pause / 1000);
    const who = usual < pause ? `The server asks to wait ${seconds} s` : 'The server has too much to do';
    say(`${who}: waiting ${seconds} s, then ${this.limit} at a time.`);
  }
}
