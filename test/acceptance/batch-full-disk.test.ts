// The disk is full when a batch of chats writes its results: the error says so, and the batch can be resumed when there is room.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Place } from '../support/parley.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { SmallDisk } from '../support/small-disk.ts';

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());

test.skipIf(disk === null)('no line of the batch is lost, and none is answered twice', async () => {
  const place = removeAfterTest(new Place());
  const count = 60;
  const stdin = Array.from({ length: count }, (_, index) => `${index} ${'x'.repeat(4000)}\n`).join('');
  const file = join(disk?.path ?? '', 'answers.ndjson');
  const words = ['chat', '--batch', '-m', 'echo', '--resume', file];
  disk?.fill(20);
  const first = await place.parley(words, { stdin });
  expect([first.status, first.out]).toEqual([7, '']);
  expect(first.err).toContain('(STORAGE_FULL)');
  disk?.free();
  const second = await place.parley(words, { stdin });
  expect(second.status).toBe(0);
  const results = readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  expect(results.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  const listed = await place.output(['sessions', 'list', '--all', '--ids']);
  expect(listed.split('\n').length - 1).toBe(count);
});
