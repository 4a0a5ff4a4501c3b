// Deleting against a server that fails in every way, and by clients that are killed: in short; scripts/delete-storm.js does it whole.
import { expect, onTestFinished, test } from 'vitest';
import { killedDeletes, troubledDeletes } from '../support/delete-storm.ts';
import { Place } from '../support/parley.ts';
import { fillStore } from '../support/stored-sessions.ts';

function newPlace(): Place {
  const place = new Place();
  onTestFinished(() => place.remove());
  return place;
}

test('what is reported of 1,000 deletions is what a failing server has, also over a revoked key', async () => {
  const { faults, counts, statuses } = await troubledDeletes(newPlace(), { ids: 1000, random: Math.random });
  expect(faults).toEqual([]);
  expect((counts['deleted'] ?? 0) + (counts['not_found'] ?? 0)).toBe(1000);
  expect(counts['not_found']).toBeGreaterThan(5);
  expect([statuses[0], statuses.at(-1)]).toEqual([4, 3]);
}, 120_000);

test('a client that is killed and resumed deletes all that was asked for, and nothing else', async () => {
  const place = newPlace();
  await place.output(['models']);
  const existing = fillStore(place.storeFile, 2001);
  const { faults, kills } = await killedDeletes(place, {
    ids: 2000,
    kills: 4,
    existing,
    random: Math.random,
  });
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(4);
}, 120_000);
