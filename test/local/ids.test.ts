// Ids: of one form, in the order of their creation, and not predictable.
import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { IdSource } from '../../src/local/ids.ts';

const now = Date.parse('2024-05-01T12:00:00Z');

it('an id is its prefix and a ULID, whose first ten characters are the time', () => {
  const ids = new IdSource(randomBytes);
  expect(ids.next('ses', now)).toMatch(/^ses_01hwt0d7g0[0-9a-hjkmnp-tv-z]{16}$/);
  expect(ids.next('msg', 0)).toMatch(/^msg_/);
});

it('ids sort in the order of their creation, within one millisecond and when the clock is set back', () => {
  const ids = new IdSource(randomBytes);
  const times = [now, now, now, now + 1, now + 1, now - 5000, now - 4999, now + 1, now + 2];
  const made = times.flatMap((time) => Array.from({ length: 200 }, () => ids.next('ses', time)));
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

it('continues after the last number of a millisecond', () => {
  const ids = new IdSource((size) => new Uint8Array(size).fill(255));
  const made = Array.from({ length: 3 }, () => ids.next('ses', now));
  expect(made.toSorted()).toEqual(made);
});

it('the next id of a millisecond cannot be predicted from the last', () => {
  const ends = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    let draws = 0;
    // The first id is always the same, as for somebody who knows it.
    const ids = new IdSource((size) => (draws++ === 0 ? new Uint8Array(size) : randomBytes(size)));
    ids.next('ses', now);
    ends.add(ids.next('ses', now));
  }
  expect(ends.size).toBe(20);
});

it('the ids of one project do not reveal how many another creates in the same millisecond', () => {
  let draws = 0;
  // Every step is the smallest one, so the distance between two ids is a count.
  const ids = new IdSource((size) => new Uint8Array(size).fill(draws++ === 0 ? 7 : 0));
  const mine = ids.of('mine');
  const first = mine.next('ses', now);
  for (let count = 0; count < 5; count += 1) ids.of('theirs').next('ses', now);
  const second = mine.next('msg', now);
  expect([first.slice(4, -1), first.at(-1), second.at(-1)]).toEqual([second.slice(4, -1), '7', '8']);
});

it('ids of several projects are all different, and each in order, also when the clock is set back', () => {
  const ids = new IdSource(randomBytes);
  const projects = ['a', 'b', 'c'].map((project) => ids.of(project));
  const times = [now, now, now + 1, now - 5000, now + 1, now + 2];
  const made = projects.map(() => [] as string[]);
  for (const time of times)
    for (const [at, project] of projects.entries()) made[at]?.push(project.next('ses', time));
  for (const list of made) expect(list.toSorted()).toEqual(list);
  expect(new Set(made.flat()).size).toBe(18);
});
