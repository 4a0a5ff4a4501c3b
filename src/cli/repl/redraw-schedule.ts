// Decides when the edited line is drawn again: after the keys that arrived together, and at most once in a while, however many keys and
// changes of the terminal's size arrive.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { startTimer } from '../terminal/timer.ts';

/** The shortest time (ms) between two drawings: that of a screen with 60 pictures a second. */
const pictureMs = 16;

export class RedrawSchedule {
  readonly #draw: () => void;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | null = null;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  request(): void {
    if (this.#cancel !== null) return;
    const pause = this.#drawnAt + pictureMs - monotonicMs();
    if (pause > 0) {
      this.#cancel = startTimer(pause, () => this.now());
      return;
    }
    // The keys of one read arrive one after the other before the immediate.
    const immediate = setImmediate(() => this.now());
    this.#cancel = () => clearImmediate(immediate);
  }

  /** Draws without delay, and not again for what was requested before. */
  now(): void {
    this.cancel();
    this.#draw();
    this.#drawnAt = monotonicMs();
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
