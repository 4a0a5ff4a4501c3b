// Work in steps: it yields where the event loop may turn, and returns its result.
export type Steps<T> = Generator<void, T>;

/** All steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
