// When a stalled reader is cut, by the default limits of a server, on a clock that the test controls.
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defaultServerLimits } from '../../src/server/server-limits.ts';
import { StalledReaders } from '../../src/server/stalled-readers.ts';

const { stalledMs, checkMs, heartbeatMs } = defaultServerLimits;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a reader that takes nothing is cut after 45 s, even if more is written to it', () => {
  const readers = new StalledReaders(stalledMs, checkMs);
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    bytesWritten: 900,
    writableLength: 500,
  });
  const response = {
    destroyed: false,
    writableFinished: false,
    writableLength: 500,
    destroy: () => {
      response.destroyed = true;
    },
  };
  readers.watch(socket as unknown as Socket, response as unknown as ServerResponse);
  // The last byte is taken between two checks.
  vi.advanceTimersByTime(10.5 * checkMs);
  socket.writableLength -= 1;
  const write = setInterval(() => {
    socket.bytesWritten += 10;
    socket.writableLength += 10;
  }, heartbeatMs);
  vi.advanceTimersByTime(45_000);
  expect(response.destroyed).toBe(false);
  vi.advanceTimersByTime(2 * checkMs);
  expect(response.destroyed).toBe(true);
  clearInterval(write);
  readers.stop();
});
