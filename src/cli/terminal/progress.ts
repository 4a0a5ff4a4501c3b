// Shows a waiting line until a response arrives: only on a terminal, only after a moment, and removed afterwards.
import { filterLine } from './filter.ts';
import type { Output } from './output.ts';
import type { StartTimer } from './timer.ts';

export interface WaitingOptions {
  readonly quiet: boolean;
  readonly startTimer: StartTimer;
  /** The clock, in milliseconds. */
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
  if (quiet) return { say() {}, stop() {} };
  const startedAt = now();
  let isStopped = false;
  let words = text;
  let clear = () => {};
  let update = () => {};
  let cancel = () => {};
  const showLater = () => {
    cancel = startTimer(patienceMs, () => void show());
  };
  const show = async () => {
    const { formats, redraws, stream, colour } = stderr();
    // A terminal may report its width later.
    if (formats && !redraws) showLater();
    if (!redraws) return;
    const { default: ora } = await import('ora');
    if (isStopped) return;
    const spinner = ora({
      text: filterLine(words),
      suffixText: () => `${Math.floor((now() - startedAt) / 1000)} s`,
      stream,
      color: colour === 0 ? false : 'cyan',
      isEnabled: true,
      // Otherwise ora would swallow Ctrl-C.
      discardStdin: false,
    });
    clear = () => spinner.stop();
    update = () => {
      spinner.text = filterLine(words);
    };
    spinner.start();
  };
  showLater();
  return {
    say(other) {
      words = other;
      update();
    },
    stop() {
      isStopped = true;
      cancel();
      clear();
      clear = () => {};
      update = () => {};
    },
  };
}
