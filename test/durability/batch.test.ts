// A batch that is killed and resumed has the result of an uninterrupted batch: each line is answered once.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { batchStorm } from '../support/batch-storm.ts';
import type { Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';

let place: Place;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

test.each([
  ['of lines of their own', false],
  ['of the turns of one session', true],
])(
  'a batch %s, killed at random moments and resumed, has each id once and no message twice',
  async (_, inSession) => {
    const report = await batchStorm(place, { kills: 3, lines: 120, inSession, random: Math.random });
    expect(report.faults).toEqual([]);
    expect(report.kills).toBeGreaterThanOrEqual(3);
  },
  120_000,
);
