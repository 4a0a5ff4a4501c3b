// After `kill -9` all acknowledged data is stored once, and the next command works without help. Where Node has two libraries for SQLite,
// both use the store at the same time.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { driversOfRun } from '../support/driver.ts';
import { killStorm } from '../support/kill-storm.ts';
import { endOf, type Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { storedMessages, storeFaults } from '../support/stored-turns.ts';

let place: Place;
beforeEach(() => {
  place = new PlaceInProcess();
});
afterEach(() => place.remove());

// scripts/kill-storm.js kills a thousand.
test('of 12 chats killed at random moments, nothing acknowledged is lost or doubled', async () => {
  const report = await killStorm(place, {
    ...{ kills: 12, atOnce: 4, sharedSessions: 3, random: Math.random },
    drivers: driversOfRun,
  });
  expect(report.faults).toEqual([]);
  expect(report.kills).toBeGreaterThanOrEqual(12);
  // A storm that killed during no turn would prove nothing.
  expect(report.acknowledgedMessages).toBeGreaterThan(0);
  expect(report.cutTurns).toBeGreaterThan(0);
}, 180_000);

test('a session whose owner was killed during a reply is free at once', async () => {
  const session = await place.newSession();
  const message = 'word '.repeat(60_000);
  const held = place.spawn(['chat', '--mode', 'echo', '-s', session], { stdin: message });
  // The reply begins, and cannot end while nobody reads it.
  await new Promise((resolve) => held.stdout?.once('readable', resolve));
  held.kill('SIGKILL');
  expect(await endOf(held)).toEqual({ status: null, signal: 'SIGKILL' });

  // The end of the lease would take fifteen seconds.
  const next = place.spawn(['chat', '-n', '--mode', 'echo', '-s', session, 'next']);
  next.stdout?.resume();
  const timer = setTimeout(() => next.kill('SIGKILL'), 10_000);
  expect(await endOf(next)).toEqual({ status: 0, signal: null });
  clearTimeout(timer);
  const stored = storedMessages(place);
  expect(stored.map(({ role, finish_reason }) => [role, finish_reason])).toEqual([
    ['user', null],
    ['assistant', 'interrupted'],
    ['user', null],
    ['assistant', 'stop'],
  ]);
  expect([stored[0]?.content, stored[2]?.content, stored[3]?.content]).toEqual([message, 'next', 'next']);
  expect(storeFaults(place)).toEqual([]);
});

test('a first use killed at any moment leaves nothing that the next command stumbles over', async () => {
  for (let round = 0; round < 4; round++) {
    const fresh = new PlaceInProcess();
    const first = fresh.spawn(['chat', '-n', '--mode', 'echo', 'first']);
    const timer = setTimeout(() => first.kill('SIGKILL'), 20 + Math.random() * 140);
    await endOf(first);
    clearTimeout(timer);
    expect(await fresh.output(['chat', '-n', '--mode', 'echo', 'second'])).toBe('second\n');
    expect(await fresh.output(['chat', '-c', '-n', '--mode', 'echo', 'third'])).toBe('third\n');
    expect(storeFaults(fresh)).toEqual([]);
    fresh.remove();
  }
});
