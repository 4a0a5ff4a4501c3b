// The real program syncs over `parley serve`: killed in the middle and run again, and run twice at once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';
import { exportedBy, killedSync, syncKills } from '../support/sync-kills.ts';

const here = new PlaceInProcess();
const there = new PlaceInProcess();
let served: ServedPlace;
const count = 60;

const lines = (name: string) =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify({ message: `${name} ${at}`, id: `${name}${at}` }),
  ).join('\n');

beforeAll(async () => {
  await here.output(['chat', '--batch', '-m', 'echo', '--json'], { stdin: lines('here') });
  await there.output(['chat', '--batch', '-m', 'echo', '--json'], { stdin: lines('there') });
  const { key } = await there.answer<{ key: string }>(['keys', 'create', '--project', 'default']);
  served = await servePlace(there);
  const login = ['login', '--profile', 'other', '--url', served.url, '--key-stdin'];
  await here.output(login, { stdin: `${key}\n` });
  await here.output(['profiles', 'use', 'local']);
});
afterAll(async () => {
  await served.end('SIGTERM');
  here.remove();
  there.remove();
});

test('a sync that is killed in the middle and run again, twice at once, ends with the same sessions', async () => {
  let results = 0;
  for (const enough of [5, 30]) results += (await killedSync(here, { results: enough, afterMs: 0 })).results;
  expect(results).toBeGreaterThanOrEqual(5);
  const both = await Promise.all([here.binary(['sync', 'other']), here.binary(['sync', 'other'])]);
  // One of them may have found the other one running.
  expect(both.map(({ status }) => status).sort()).toEqual([
    0,
    both.every(({ status }) => status === 0) ? 0 : 7,
  ]);
  expect(await here.output(['sync', 'other'])).toBe('');
  const sessions = await exportedBy(here);
  expect(sessions).toHaveLength(2 * count);
  expect(await exportedBy(here, '--profile', 'other')).toEqual(sessions);
}, 120_000);

test('syncs that are killed at random moments while both places change end with the same sessions', async () => {
  const report = await syncKills(here, { kills: 2, sessions: 6, random: Math.random });
  expect(report.faults).toEqual([]);
}, 120_000);

test('a sync of a place with itself is refused, and does nothing', async () => {
  const refused = await here.parley(['sync', 'local']);
  expect(refused).toMatchObject({ status: 2, out: '' });
  expect(refused.err).toContain('names the target in use');
});
