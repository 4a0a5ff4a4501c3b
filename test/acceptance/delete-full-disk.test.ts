// The disk is full when the journal of a batch is written: no deletion starts without a journal, every done deletion is reported, and the batch
// can be resumed when there is room.
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openBasicServer } from '../support/basic-server.ts';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { SmallDisk } from '../support/small-disk.ts';

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());

const ids = Array.from({ length: 6_000 }, (_, index) => `id-${String(index).padStart(40, '0')}`);
const stdin = `${ids.join('\n')}\n`;
const lines = (text: string) => text.split('\n').slice(0, -1);

describe.skipIf(disk === null)('on a disk without room', () => {
  const { path, fill, free } = {
    path: disk?.path ?? '',
    fill: (pages: number) => disk?.fill(pages),
    free: () => disk?.free(),
  };
  beforeEach(() => free());

  async function startAll() {
    const place = new Place();
    const server = await openBasicServer({ ids });
    onTestFinished(async () => {
      await server.close();
      place.remove();
    });
    const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1', PARLEY_DATA_DIR: path };
    return { place, server, env };
  }

  test('for the ids, nothing is deleted, and no file remains', async () => {
    const { place, server, env } = await startAll();
    fill(30);
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { env, stdin });
    expectFailure(outcome, { status: 7, code: 'STORAGE_FULL' });
    expect([outcome.out, server.deletions(), readdirSync(join(path, 'batches'))]).toEqual(['', 0, []]);
  });

  test('for the results, every deletion is reported, and the batch can be resumed later', async () => {
    const { place, server, env } = await startAll();
    // The ids take 65 pages.
    fill(72);
    const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { env, stdin });
    expect(outcome.status).toBe(7);
    expect(outcome.err).toContain('(STORAGE_FULL)');
    expect(lines(outcome.out).sort()).toEqual([...server.deleted].map((id) => `deleted ${id}`).sort());
    expect(server.deleted.size).toBeGreaterThan(1000);
    expect(outcome.err).toContain(`${server.deleted.size} sessions deleted`);
    const [, batch = ''] = /To resume: parley sessions delete --resume (\S+)\n/.exec(outcome.err) ?? [];

    free();
    const rest = await place.parley(['sessions', 'delete', '--resume', batch], { env });
    expect(rest.status).toBe(0);
    const results = [...lines(outcome.out), ...lines(rest.out)];
    expect([...new Set(results)].sort()).toEqual(ids.map((id) => `deleted ${id}`));
    expect(server.active.size).toBe(0);
  });
});

test('if the results cannot be written, the batch stops, and says what was done and how to resume it', async () => {
  const place = new Place();
  const server = await openBasicServer({ ids });
  const full = openSync('/dev/full', 'w');
  onTestFinished(async () => {
    closeSync(full);
    await server.close();
    place.remove();
  });
  const env = { PARLEY_URL: server.url, PARLEY_API_KEY: 'key-1' };
  const outcome = await place.parley(['sessions', 'delete', '-', '--yes'], { env, stdin, stdout: full });
  expectFailure(outcome, { status: 7, code: 'STORAGE_FULL' });
  expect(outcome.err).toContain(`${server.deleted.size} sessions deleted`);
  const [, batch = ''] = /To resume: parley sessions delete --resume (\S+)\n/.exec(outcome.err) ?? [];
  const rest = await place.parley(['sessions', 'delete', '--resume', batch], { env });
  expect(rest.status).toBe(0);
  expect(server.active.size).toBe(0);
});
