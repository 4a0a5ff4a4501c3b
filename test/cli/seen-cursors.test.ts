// Repeated cursors are detected for loops of any length that start anywhere, and few of the cursors are stored.
import { expect, test } from 'vitest';
import { SeenCursors } from '../../src/cli/seen-cursors.ts';

/** The number of cursors that are read from a listing whose loop starts after some cursors. */
function taken(before: number, length: number): number {
  const seen = new SeenCursors();
  for (let at = 0; ; at++) {
    const cursor = at < before ? `b${at}` : `c${(at - before) % length}`;
    if (!seen.add(cursor)) return at;
  }
}

test('a loop among the first thousand cursors is detected in its second round', () => {
  expect([taken(0, 1), taken(5, 1), taken(0, 700), taken(300, 700)]).toEqual([1, 6, 700, 1000]);
});

test('a later or longer loop is detected after a few rounds', () => {
  for (const [before, length] of [
    [5000, 1],
    [5000, 3],
    [999, 20_000],
    [0, 50_000],
    [40_000, 7000],
  ] as const)
    expect(taken(before, length)).toBeLessThanOrEqual(3 * (before + length));
});

test('of cursors without a repetition the first thousand are stored, and one more', () => {
  const seen = new SeenCursors();
  for (let at = 0; at < 5000; at++) seen.add(`c${at}`);
  const added = Array.from({ length: 5000 }, (_, at) => at).filter((at) => !seen.add(`c${at}`));
  expect(added).toHaveLength(1001);
  expect(added.slice(0, 1000)).toEqual(Array.from({ length: 1000 }, (_, at) => at));
});
