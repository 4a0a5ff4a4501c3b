// Imports of one machine take turns.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ImportLock } from '../../../src/cli/session-batch/import-lock.ts';
import type { TakeLock } from '../../../src/system/file-lock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { signal } = new AbortController();

test('sessions that are stored at the same time check once for a process that waits for its turn', async () => {
  let looks = 0;
  const take: TakeLock = (path) => {
    if (path.endsWith('imports.next.lock')) looks += 1;
    return () => {};
  };
  const holder = { locks: async () => take, now: Date.now, random: Math.random };
  const turns = new ImportLock(temporaryDirectory(), holder, { signal, say: async () => {} });
  // This is longer than a turn lasts when another process waits.
  const stored = delay(300);
  await Promise.all(Array.from({ length: 48 }, () => turns.run(() => stored)));
  turns.close();
  // One check when the turn was taken, and one after it.
  expect(looks).toBe(2);
});

test('a process that waits for its turn for two seconds says so once', async () => {
  vi.useFakeTimers({ toFake: ['hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const linesAtTry: number[] = [];
  const lines: string[] = [];
  const take: TakeLock = (path) => {
    if (!path.endsWith('imports.lock')) return () => {};
    linesAtTry.push(lines.length);
    vi.advanceTimersByTime(500);
    return linesAtTry.length < 8 ? null : () => {};
  };
  const holder = { locks: async () => take, now: Date.now, random: Math.random };
  const say = async (line: string) => void lines.push(line);
  const turns = new ImportLock(temporaryDirectory(), holder, { signal, say });
  await turns.run(async () => {});
  turns.close();
  expect(lines).toEqual(['Waiting for another import on this machine, which is running or suspended.']);
  expect(linesAtTry).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
});
