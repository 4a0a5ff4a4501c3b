import { expect, test } from 'vitest';
import { Pacer } from '../../../src/cli/session-batch/pacer.ts';

function paced(most: number) {
  const clock = { now: 1_000_000 };
  const pacer = new Pacer({ most, now: () => clock.now, random: () => 0 });
  return { pacer, clock };
}

test('as many calls run at once as are allowed, until the server turns one away: then half as many', () => {
  const { pacer, clock } = paced(16);
  expect(pacer.limit).toBe(16);
  expect(pacer.turnedAway(clock.now, null)).toBe(true);
  expect([pacer.limit, pacer.pauseMs]).toEqual([8, 250]);
});

test('calls that were turned away together count once', () => {
  const { pacer, clock } = paced(16);
  const begun = clock.now;
  clock.now += 20;
  const news = Array.from({ length: 16 }, () => pacer.turnedAway(begun, null));
  expect(news.filter(Boolean).length).toBe(1);
  expect(pacer.limit).toBe(8);
});

test('answers bring back the calls, one for each round of them, and never more than were allowed', () => {
  const { pacer, clock } = paced(16);
  pacer.turnedAway(clock.now, null);
  for (let answer = 0; answer < 9; answer += 1) pacer.answered();
  expect(pacer.limit).toBe(9);
  for (let answer = 0; answer < 1000; answer += 1) pacer.answered();
  expect(pacer.limit).toBe(16);
});

test('a pause is as long as the server says, and longer each time where it says nothing', () => {
  const { pacer, clock } = paced(4);
  pacer.turnedAway(clock.now, 7);
  expect(pacer.pauseMs).toBe(7000);
  const pauses = [1, 2, 3, 4].map(() => {
    clock.now += pacer.pauseMs;
    pacer.turnedAway(clock.now, null);
    return pacer.pauseMs;
  });
  expect(pauses).toEqual([500, 1000, 2000, 4000]);
  expect(pacer.limit).toBe(1);
});

test('a minute of nothing but refusals is hopeless; an answer in between is hope again', () => {
  const { pacer, clock } = paced(4);
  const began = clock.now;
  while (!pacer.isHopeless) {
    clock.now += pacer.pauseMs;
    pacer.turnedAway(clock.now, 0);
  }
  expect((clock.now - began) / 1000).toBeGreaterThan(30);
  pacer.answered();
  expect(pacer.isHopeless).toBe(false);
});

test('as many broken calls one after the other as run at once are hopeless', () => {
  const { pacer } = paced(16);
  for (let call = 0; call < 15; call += 1) pacer.failed();
  expect(pacer.isHopeless).toBe(false);
  pacer.failed();
  expect(pacer.isHopeless).toBe(true);
});
