// Work that holds the thread: it gives what it gives, fails as it fails, and ends when its time is used up.
import { expect, test } from 'vitest';
import { runBounded, TimeUsedUp } from '../../../src/cli/terminal/bounded-run.ts';

function spin(): never {
  for (;;);
}

test('work gives its own value and its own failure', () => {
  expect(runBounded(() => 7, 1000)).toBe(7);
  const failure = new RangeError('own');
  const failing = () => {
    throw failure;
  };
  expect(() => runBounded(failing, 1000)).toThrow(failure);
});

test('work without an end is ended once its time is used up', () => {
  expect(() => runBounded(spin, 50)).toThrow(TimeUsedUp);
});
