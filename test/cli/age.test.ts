// A time that is typed for a deletion or a purge: it is read as exactly the meant time, or refused.
import { afterEach, expect, test, vi } from 'vitest';
import { pointInTime } from '../../src/cli/age.ts';

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ['2026-02-28T12:30:00Z', '2026-02-28T12:30:00.000Z'],
  ['2026-02-28T00:30:00+02:00', '2026-02-27T22:30:00.000Z'],
])('%s is %s', (text, time) => {
  expect(pointInTime(text)).toEqual({ time });
});

test.each(['2026-02-30', '2026-02-29', '2026-04-31T00:00:00Z', '2100-02-29', '2026-13-01', '2026-00-10'])(
  '%s is no valid day, and refused',
  (text) => {
    expect(() => pointInTime(text)).toThrow(/such as 2026-01-31/);
  },
);

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T10:00', '2026-01-31T10:00:00.000Z'],
  // This time did not exist in New York.
  ['2026-03-08T02:30:00.5', '2026-03-08T02:30:00.500Z'],
  ['2026-01-31T10:00-05:00', '2026-01-31T15:00:00.000Z'],
])('%s is in UTC unless it names a zone, in any zone of the machine', (text, time) => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(pointInTime(text)).toEqual({ time });
});
