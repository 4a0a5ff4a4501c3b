// What ends an exchange from outside: too long a wait for its server, or the signal of whoever asked. One timer serves all exchanges of a
// client, and one listener all those of a signal. A deadline runs only while something is waited for: a reader that pauses is no silent
// server.
import type { HttpExchange } from './http-exchange.ts';
import { HttpFailure } from './http-failure.ts';

export interface SupervisorOptions {
  /** Names the server in failures. */
  readonly host: string;
  /** To the first byte of a body that is streamed, or to the last of one that is read whole. */
  readonly answerMs: number;
  /** Between two pieces of a stream. */
  readonly silenceMs: number;
  readonly now: () => number;
}

/** An exchange under way. */
export interface Supervised {
  readonly exchange: HttpExchange;
  readonly listening: Listening;
  /** Among the others. */
  index: number;
  /** What the wait now may take, and when it has; infinity while nothing is waited for. */
  limitMs: number;
  deadline: number;
}

interface Listening {
  readonly signal: AbortSignal;
  readonly abort: () => void;
  count: number;
}

export class Watchdog {
  readonly #options: SupervisorOptions;
  /** An array, not a set: what a set sheds as members come and go, V8 copies on and on, and frees in its slow collections alone. */
  readonly #all: Supervised[] = [];
  readonly #signals = new Map<AbortSignal, Listening>();
  #timer: NodeJS.Timeout | undefined;
  #nextCheck = Number.POSITIVE_INFINITY;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Until `release`. The time for the answer runs. */
  begin(exchange: HttpExchange, signal: AbortSignal): Supervised {
    const listening = this.#signals.get(signal) ?? this.#listen(signal);
    listening.count += 1;
    const supervised = { exchange, listening, index: this.#all.length, limitMs: 0, deadline: 0 };
    this.#all.push(supervised);
    this.#limit(supervised, this.#options.answerMs);
    return supervised;
  }

  /** A piece has come, and is with the reader. */
  pause(supervised: Supervised): void {
    supervised.deadline = Number.POSITIVE_INFINITY;
  }

  /** The reader waits for the next piece. */
  resume(supervised: Supervised): void {
    this.#limit(supervised, this.#options.silenceMs);
  }

  /** A second time does nothing. */
  release(supervised: Supervised): void {
    const { index, listening } = supervised;
    const last = this.#all.at(-1);
    if (last === undefined || this.#all[index] !== supervised) return;
    this.#all[index] = last;
    last.index = index;
    this.#all.pop();
    listening.count -= 1;
    if (listening.count > 0) return;
    this.#signals.delete(listening.signal);
    listening.signal.removeEventListener('abort', listening.abort);
  }

  close(): void {
    clearTimeout(this.#timer);
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

  #limit(supervised: Supervised, ms: number): void {
    supervised.limitMs = ms;
    supervised.deadline = this.#options.now() + ms;
    if (supervised.deadline < this.#nextCheck) this.#checkAt(supervised.deadline);
  }

  #checkAt(time: number): void {
    clearTimeout(this.#timer);
    this.#nextCheck = time;
    this.#timer = setTimeout(() => this.#check(), time - this.#options.now());
  }

  #check(): void {
    const now = this.#options.now();
    const late = this.#all.filter(({ deadline }) => deadline <= now);
    for (const { exchange, limitMs } of late) {
      const message = `${this.#options.host} was silent for ${limitMs / 1000} s`;
      exchange.stop(new HttpFailure('timeout', exchange.sent, message));
    }
    const times = this.#all.map(({ deadline }) => deadline).filter((deadline) => deadline > now);
    this.#nextCheck = Math.min(...times);
    if (this.#nextCheck < Number.POSITIVE_INFINITY) this.#checkAt(this.#nextCheck);
  }
}
