// Work in steps: a generator that yields where other work may run, and returns its result.
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
