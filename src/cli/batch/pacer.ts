// Paces the calls of a batch. When a server refuses calls (429, 503), the pacer waits, runs fewer calls at a time and repeats the refused
// ones. When the server answers, it runs more. It ends the batch when further calls would be useless.
import { setTimeout as delay } from 'node:timers/promises';
import { type ErrorCode, ParleyError } from '../../service/errors.ts';
import { modelServerProblemOf } from '../../service/model-server-problem.ts';
import { isOutOfFiles } from '../../system/file-errors.ts';
import { monotonicMs } from '../../system/monotonic-clock.ts';

export interface PacerOptions {
  /** The most calls at once. */
  readonly maxConcurrency: number;
  /** The batch ends after this many calls in a row without an answer. */
  readonly maxUnanswered: number;
  /** How often one call is made while the server refuses it and answers other calls; by default without limit. */
  readonly maxTries?: number;
  /** True if a call with this failure is repeated; by default after each refusal, because the call is idempotent. */
  readonly isRefused?: (error: ParleyError) => boolean;
  /** Called with a failure that every further call would have, too. It must abort `signal`. */
  readonly giveUp: (error: ParleyError) => void;
  /** Tells the user why a longer pause is needed. */
  readonly say: (line: string) => void;
  /** Ends every wait: the waiting calls reject. */
  readonly signal: AbortSignal;
  /** 0 to 1. */
  readonly random: () => number;
  /** Milliseconds of a monotonic clock. Replaced in tests. */
  readonly now?: () => number;
  /** Replaced in tests. */
  readonly wait?: (milliseconds: number) => Promise<unknown>;
}

/** The HTTP statuses of refusals, which reports name. */
const refusalStatuses: ReadonlyMap<ErrorCode, number> = new Map([
  ['RATE_LIMITED', 429],
  ['UNAVAILABLE', 503],
]);
const firstPauseMs = 250;
const maxPauseMs = 30_000;
/** The most pauses in a row without an answer. They last about a minute in total if the server names no time. */
const maxPauses = 8;
/** If a server asks for a longer wait, the batch ends. */
const maxWaitSeconds = 15 * 60;
/** A pause of this length (ms) is reported to the user. */
const noticeableMs = 2000;

export class Pacer {
  readonly #options: PacerOptions;
  /** Not the time of day, because setting the clock back would extend a pause. */
  readonly #now: () => number;
  #maxConcurrency: number;
  #limit: number;
  #running = 0;
  #pausedUntil = 0;
  #pauses = 0;
  #refusal: ErrorCode | null = null;
  #unanswered = 0;
  #waiting: (() => void)[] = [];
  readonly #fatal = new WeakSet<ParleyError>();

  constructor(options: PacerOptions) {
    this.#options = options;
    this.#now = options.now ?? monotonicMs;
    this.#maxConcurrency = options.maxConcurrency;
    this.#limit = options.maxConcurrency;
    options.signal.addEventListener('abort', () => this.#release(this.#waiting.length));
  }

  /** How many calls may run at a time now. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** How long (ms) the next call must wait. */
  get pauseMs(): number {
    return Math.max(0, this.#pausedUntil - this.#now());
  }

  /** The last refusal: `HOST says 429`. Null for a service without a host, and before the first refusal. */
  refusalOf(url: string | null): string | null {
    if (url === null || this.#refusal === null) return null;
    return `${new URL(url).host} says ${refusalStatuses.get(this.#refusal)}`;
  }

  /** True for a failure that ended the batch, or would have ended it. */
  isFatal(error: unknown): boolean {
    return error instanceof ParleyError && this.#fatal.has(error);
  }

  /** Sets how many calls may run at a time from now on. */
  setConcurrency(maxConcurrency: number): void {
    this.#maxConcurrency = maxConcurrency;
    this.#limit = maxConcurrency;
  }

  /** Makes the call when it may run, and again each time it is refused. Rejects with its last failure. */
  async run<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      await this.#turn();
      const startedAt = this.#now();
      try {
        const result = await call();
        this.#recordAnswer();
        return result;
      } catch (error) {
        if (!(error instanceof ParleyError) || !this.#isRepeated(error, startedAt, tries)) throw error;
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

  #recordAnswer(): void {
    this.#pauses = 0;
    this.#unanswered = 0;
    this.#limit = Math.min(this.#maxConcurrency, this.#limit + 1 / this.#limit);
  }

  #isRepeated(error: ParleyError, startedAt: number, tries: number): boolean {
    const { code, kind, retryAfter } = error;
    const {
      isRefused = () => refusalStatuses.has(code),
      maxTries = Number.POSITIVE_INFINITY,
      maxUnanswered,
    } = this.#options;
    // A wait does not free the files that this process has open.
    if (isRefused(error) && !isOutOfFiles(error.cause)) {
      this.#refusal = code;
      this.#recordRefusal(startedAt, error);
      const isFatal = this.#pauses > maxPauses || (retryAfter ?? 0) > maxWaitSeconds;
      if (isFatal) this.#giveUp(error);
      return !isFatal && tries < maxTries;
    }
    const isAnswer = kind !== 'transient' || code === 'SESSION_BUSY' || code === 'INCOMPLETE_REPLY';
    if (isAnswer && code !== 'STORE_BUSY') this.#recordAnswer();
    else this.#unanswered += 1;
    const isForAll =
      kind === 'key' || code === 'BUDGET_EXCEEDED' || (kind === 'store' && code !== 'STORE_BUSY');
    if (isForAll || this.#unanswered >= maxUnanswered) this.#giveUp(error);
    return false;
  }

  #giveUp(error: ParleyError): void {
    this.#fatal.add(error);
    this.#options.giveUp(error);
  }

  #recordRefusal(startedAt: number, error: ParleyError): void {
    const { random, say } = this.#options;
    const { retryAfter } = error;
    // Calls that ran at the same time are refused together, which counts as one refusal.
    const isNew = startedAt >= this.#pausedUntil;
    if (isNew) {
      this.#limit = Math.max(1, this.#limit / 2);
      this.#pauses += 1;
    }
    // If the server names no time, or 0 repeatedly, the pauses grow.
    const ownPause = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.max(0, this.#pauses - 1));
    const pause = Math.max(ownPause, (retryAfter ?? 0) * 1000);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now() + pause + (firstPauseMs * random()) / 2);
    if (!isNew || pause < noticeableMs) return;
    const seconds = Math.ceil(pause / 1000);
    const reason = ownPause < pause ? `The server asks to wait ${seconds} s` : reasonOf(error);
    say(`${reason}: waiting ${seconds} s, then sending ${this.limit} at a time.`);
  }
}

function reasonOf(error: ParleyError): string {
  return modelServerProblemOf(error) === 'unreachable'
    ? 'The model’s server cannot be reached'
    : 'The server is overloaded';
}
