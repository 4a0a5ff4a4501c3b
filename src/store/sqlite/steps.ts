// Work in steps, so that other work runs in between.
import { monotonicMs } from '../../system/monotonic-clock.ts';

/** Yields when other work may run, and returns the result. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The most work of one step, in units and in ms. Each step is a transaction, and other writes wait for its end. */
const maxUnits = 100;
const longestMs = 20;

/** Ends a step when it has done enough work. */
export class StepMeter {
  #units = 0;
  #began = monotonicMs();

  /** Call it before each unit of work. */
  *next(): Steps<void> {
    if (this.#units >= maxUnits || monotonicMs() - this.#began > longestMs) {
      yield;
      this.#units = 0;
      this.#began = monotonicMs();
    }
    this.#units += 1;
  }
}
