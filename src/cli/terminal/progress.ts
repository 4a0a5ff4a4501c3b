// Shows a waiting line until a response arrives: only on a terminal, only after a moment, and removed afterwards.
import type { Ora } from 'ora';
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { filterLine } from './filter.ts';
import type { Output } from './output.ts';
import { type StartTimer, startTimer } from './timer.ts';

interface WaitingContext {
  /** Read only when the line is shown, because creating the stream takes time. */
  readonly stderr: Output;
  readonly options: { readonly quiet: boolean };
}

export interface Waiting {
  /** Replaces the text. The seconds continue. */
  say(text: string): void;
  /** Must be called before other output to the terminal. A second call does nothing. */
  stop(): void;
}

/** Most responses arrive before this time (ms), and the library is not loaded for them. */
const patienceMs = 150;

/** Shows the text and the seconds since the call. `timer` is replaced in tests. */
export function showWaiting(text: string, context: WaitingContext, timer: StartTimer = startTimer): Waiting {
  return context.options.quiet ? { say() {}, stop() {} } : new WaitingLine(text, context, timer);
}

class WaitingLine implements Waiting {
  readonly #context: WaitingContext;
  readonly #startTimer: StartTimer;
  readonly #startedAt = monotonicMs();
  #text: string;
  #spinner: Ora | null = null;
  #isStopped = false;
  #cancelTimer = () => {};

  constructor(text: string, context: WaitingContext, timer: StartTimer) {
    this.#context = context;
    this.#text = text;
    this.#startTimer = timer;
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
    const { formats, redraws, stream, colour } = this.#context.stderr;
    // A terminal may report its width later.
    if (formats && !redraws) this.#showLater();
    if (!redraws) return;
    const { default: ora } = await import('ora');
    if (this.#isStopped) return;
    this.#spinner = ora({
      text: filterLine(this.#text),
      suffixText: () => `${Math.floor((monotonicMs() - this.#startedAt) / 1000)} s`,
      stream,
      color: colour === 0 ? false : 'cyan',
      isEnabled: true,
      // Otherwise ora would swallow Ctrl-C.
      discardStdin: false,
    });
    this.#spinner.start();
  }
}
