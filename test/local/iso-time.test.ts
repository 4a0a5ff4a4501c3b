// Times as texts of the API.
import { expect, test } from 'vitest';
import { toTime } from '../../src/service/iso-time.ts';

test('a time is written as JavaScript writes it', () => {
  const times = [0, 1, 999, 1_000, 59_999, 86_399_999, 951_782_400_000, 1_767_225_599_999, -1, -86_400_001];
  const years = [-1, 0, 1, 999, 1000, 9999, 10_000].map((year) => new Date(0).setUTCFullYear(year, 1, 28));
  for (const time of [...times, ...years]) expect(toTime(time)).toBe(new Date(time).toISOString());
});

test('a number that is no time is an error', () => {
  expect(() => toTime(Number.NaN)).toThrow(RangeError);
});
