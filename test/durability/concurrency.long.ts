// The long form of concurrency.test.ts: 400 processes, eight at a time, at one store. It takes about half a minute.
import { expect, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';

test('400 processes, eight at a time, create 400 sessions', async () => {
  const place = removeAfterTest(new Place());
  await place.output(['verify']);
  const made: string[] = [];
  const worker = async () => {
    for (let count = 0; count < 50; count += 1) made.push(await place.newSession());
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  const listed = (await place.output(['sessions', 'list', '--all', '--ids'])).trim().split('\n');
  expect(new Set(made).size).toBe(400);
  expect(listed.sort()).toEqual(made.sort());
});
