// Decides when the edited line is drawn again: after all keys that arrived together, and at most 60 times a second, however many keys and
// resizes of the terminal arrive.
import { monotonicMs } from '../../system/monotonic-clock.ts';
import { startTimer } from '../terminal/timer.ts';

/** The shortest time (ms) between two drawings: one frame of a screen with 60 frames a second. */
const frameMs = 16;

export class RedrawSchedule {
  readonly #draw: () => void;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | null = null;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  request(): void {
    if (this.#cancel !== null) return;
    const pause = this.#drawnAt + frameMs - monotonicMs();
    if (pause > 0) {
      this.#cancel = startTimer(pause, () => this.#drawRequested());
      return;
    }
    // All keys of one read arrive before the immediate runs.
    const immediate = setImmediate(() => this.#drawRequested());
    this.#cancel = () => clearImmediate(immediate);
  }

  /**
   * Draws at once, and cancels the drawing that was requested before. The next request does not wait for this drawing, so the first key at a
   * new prompt is shown at once.
   */
  now(): void {
    this.cancel();
    this.#draw();
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #drawRequested(): void {
    this.now();
    this.#drawnAt = monotonicMs();
  }
}
