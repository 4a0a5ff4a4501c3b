// Work in steps: it yields where the event loop may turn, and returns its result.
export type Steps<T> = Generator<void, T>;

import { yieldToEventLoop } from '../../system/yield-to-event-loop.ts';

/** All steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** One step a turn of the event loop. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await yieldToEventLoop();
  }
}
