// The bodies of clients that disconnect: each read rejects, and thousands at once delay nobody else.
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ChunkReader } from '../../src/server/chunk-reader.ts';
import { ClientDisconnected } from '../../src/server/client-disconnected.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('of a thousand clients that disconnect at once, a few are rejected in each iteration of the event loop, and all in the end', async () => {
  const reader = new ChunkReader();
  const bodies = Array.from({ length: 1000 }, () => new PassThrough());
  const failures: unknown[] = [];
  const readings = bodies.map((body) => reader.read(body, () => null).catch((error) => failures.push(error)));
  await nextTurn();
  for (const body of bodies) body.destroy();
  let before = 0;
  let max = 0;
  while (failures.length < bodies.length) {
    await nextTurn();
    max = Math.max(max, failures.length - before);
    before = failures.length;
  }
  await Promise.all(readings);
  expect(failures.every((error) => error instanceof ClientDisconnected)).toBe(true);
  expect(max).toBeLessThanOrEqual(100);
});

test('a read rejects at once when its client disconnects while the body waits for room', async () => {
  const body = new PassThrough();
  const reading = new ChunkReader().read(body, () => new Promise(() => {}));
  body.write('x');
  await nextTurn();
  body.destroy(new Error('reset'));
  await expect(reading).rejects.toBeInstanceOf(ClientDisconnected);
});

test('a body that ends while its last chunk waits for room is complete only when there is room', async () => {
  const body = new PassThrough();
  let isWhole = false;
  let makeRoom = () => {};
  const room = new Promise<void>((resolve) => {
    makeRoom = resolve;
  });
  const reading = new ChunkReader()
    .read(body, () => room)
    .then(() => {
      isWhole = true;
    });
  body.end('x');
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(isWhole).toBe(false);
  makeRoom();
  await reading;
  expect(isWhole).toBe(true);
});

test('a refused body is not read further', async () => {
  const body = new PassThrough();
  const reading = new ChunkReader().read(body, () => {
    throw new RangeError('too long');
  });
  body.write('x');
  await expect(reading).rejects.toThrow('too long');
  body.write('rest');
  await nextTurn();
  expect([body.destroyed, body.isPaused(), String(body.read())]).toEqual([false, true, 'rest']);
});
