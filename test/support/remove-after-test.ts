// Places of a single test. The places of a file are removed by its `afterAll`.
import { onTestFinished } from 'vitest';

/** The place is removed when the test has finished. A test that runs beside others (`test.concurrent`) must remove its place itself. */
export function removeAfterTest<T extends { remove(): unknown }>(place: T): T {
  onTestFinished(() => void place.remove());
  return place;
}
