// Ends an exchange when its server is silent for too long, or when the caller's signal aborts. One timer serves all exchanges of a client, and
// one listener all exchanges with the same signal. A deadline runs only while the client waits for the server. Deadlines are times of a
// monotonic clock, because the time of day may change.
import { monotonicMs } from '../system/monotonic-clock.ts';
import { Deadline } from './deadline.ts';
import type { HttpExchange } from './http-exchange.ts';
import { HttpFailure } from './http-failure.ts';

export interface WatchdogOptions {
  /** Names the server in failures. */
  readonly host: string;
  /** The longest wait in ms: for the first byte of a body that is streamed, or for the last byte of one that is read whole. */
  readonly responseMs: number;
  /** The longest wait in ms between two chunks of a stream. */
  readonly silenceMs: number;
}

/** A watched exchange. */
export interface WatchedExchange {
  readonly exchange: HttpExchange;
  readonly listening: Listening;
  /** Its index in the array of all watched exchanges. */
  index: number;
  /** The limit of the current wait in ms. */
  limitMs: number;
  /** The end of the current wait; infinity while the client does not wait. */
  deadline: number;
}

interface Listening {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  count: number;
}

export class Watchdog {
  readonly #options: WatchdogOptions;
  /**
   * An array, because a `Set` whose members change often leaves old tables, which V8 copies repeatedly and frees only in major collections.
   */
  readonly #all: WatchedExchange[] = [];
  readonly #signals = new Map<AbortSignal, Listening>();
  readonly #timer = new Deadline(() => this.#check());
  #nextCheck = Number.POSITIVE_INFINITY;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Watches the exchange until `release`. The time limit for the response starts. */
  begin(exchange: HttpExchange, signal: AbortSignal): WatchedExchange {
    const listening = this.#signals.get(signal) ?? this.#listen(signal);
    listening.count += 1;
    const watched = { exchange, listening, index: this.#all.length, limitMs: 0, deadline: 0 };
    this.#all.push(watched);
    this.#limit(watched, this.#options.responseMs);
    return watched;
  }

  /** Stops the deadline: a chunk has arrived, and its reader processes it. */
  pause(watched: WatchedExchange): void {
    watched.deadline = Number.POSITIVE_INFINITY;
  }

  /** Starts the deadline for the next chunk. */
  resume(watched: WatchedExchange): void {
    this.#limit(watched, this.#options.silenceMs);
  }

  /** Stops watching. A second call does nothing. */
  release(watched: WatchedExchange): void {
    const { index, listening } = watched;
    const last = this.#all.at(-1);
    if (last === undefined || this.#all[index] !== watched) return;
    this.#all[index] = last;
    last.index = index;
    this.#all.pop();
    listening.count -= 1;
    if (listening.count > 0) return;
    this.#signals.delete(listening.signal);
    listening.signal.removeEventListener('abort', listening.abort);
  }

  close(): void {
    this.#timer.stop();
  }

  #listen(signal: AbortSignal): Listening {
    const abort = () => {
      for (const { exchange, listening: own } of this.#all)
        if (own === listening) exchange.stop(signal.reason);
    };
    const listening = { signal, abort, count: 0 };
    this.#signals.set(signal, listening);
    signal.addEventListener('abort', abort);
    return listening;
  }

  #limit(watched: WatchedExchange, ms: number): void {
    watched.limitMs = ms;
    watched.deadline = monotonicMs() + ms;
    if (watched.deadline < this.#nextCheck) this.#checkAt(watched.deadline);
  }

  #checkAt(time: number): void {
    this.#nextCheck = time;
    // Node 21 and newer warn of a negative delay.
    this.#timer.start(Math.max(0, time - monotonicMs()));
  }

  #check(): void {
    const now = monotonicMs();
    const expiredExchanges = this.#all.filter(({ deadline }) => deadline <= now);
    for (const { exchange, limitMs } of expiredExchanges) {
      const message = `the server ${this.#options.host} was silent for ${limitMs / 1000} s`;
      exchange.stop(new HttpFailure('timeout', message, { isSent: exchange.isSent }));
    }
    const times = this.#all.map(({ deadline }) => deadline).filter((deadline) => deadline > now);
    this.#nextCheck = Math.min(...times);
    if (this.#nextCheck < Number.POSITIVE_INFINITY) this.#checkAt(this.#nextCheck);
  }
}
