// Shows a waiting line until a response arrives: only on a terminal, only after a moment, and removed afterwards.
import type { Ora } from 'ora';
import { filterLine } from './filter.ts';
import type { Output } from './output.ts';
import type { StartTimer } from './timer.ts';

export interface WaitingOptions {
  readonly quiet: boolean;
  readonly startTimer: StartTimer;
  /** A clock in milliseconds that nobody sets. */
  readonly now: () => number;
}

export interface Waiting {
  /** Replaces the text. The seconds continue. */
  say(text: string): void;
  /** Must be called before other output to the terminal. A second call does nothing. */
  stop(): void;
}

/** Most responses arrive before this time (ms), and the library is not loaded for them. */
const patienceMs = 150;

/** Shows the text and the seconds since the call. `stderr` is called only when the line is shown, because creating the stream takes time. */
export function showWaiting(
  stderr: () => Output,
  text: string,
  { quiet, startTimer, now }: WaitingOptions,
): Waiting {
  return quiet ? { say() {}, stop() {} } : new WaitingLine(stderr, text, { startTimer, now });
}

class WaitingLine implements Waiting {
  readonly #stderr: () => Output;
  readonly #startTimer: StartTimer;
  readonly #now: () => number;
  readonly #startedAt: number;
  #text: string;
  #spinner: Ora | null = null;
  #isStopped = false;
  #cancelTimer = () => {};

  constructor(
    stderr: () => Output,
    text: string,
    { startTimer, now }: Pick<WaitingOptions, 'startTimer' | 'now'>,
  ) {
    this.#stderr = stderr;
    this.#text = text;
    this.#startTimer = startTimer;
    this.#now = now;
    this.#startedAt = now();
    this.#showLater();
  }

  say(text: string): void {
    this.#text = text;
    if (this.#spinner !== null) this.#spinner.text = filterLine(text);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#spinner?.stop();
    this.#spinner = null;
  }

  #showLater(): void {
    this.#cancelTimer = this.#startTimer(patienceMs, () => void this.#show());
  }

  async #show(): Promise<void> {
    const { formats, redraws, stream, colour } = this.#stderr();
    // A terminal may report its width later.
    if (formats && !redraws) this.#showLater();
    if (!redraws) return;
    const { default: ora } = await import('ora');
    if (this.#isStopped) return;
    this.#spinner = ora({
      text: filterLine(this.#text),
      suffixText: () => `${Math.floor((this.#now() - this.#startedAt) / 1000)} s`,
      stream,
      color: colour === 0 ? false : 'cyan',
      isEnabled: true,
      // Otherwise ora would swallow Ctrl-C.
      discardStdin: false,
    });
    this.#spinner.start();
  }
}
