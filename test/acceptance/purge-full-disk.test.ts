// The disk becomes full during a purge: the erased sessions stay erased, and the command says so.
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { expectFailure } from '../support/failures.ts';
import { Place } from '../support/parley.ts';
import { lookInto } from '../support/raw-database.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { SmallDisk } from '../support/small-disk.ts';

const disk = SmallDisk.mount();
afterAll(() => disk?.unmount());

test.skipIf(disk === null)(
  'a purge that has no room to rewrite the store says what it has erased',
  async () => {
    const place = removeAfterTest(new Place());
    const env = { PARLEY_DATA_DIR: disk?.path ?? '' };
    const run = (words: readonly string[], stdin = '') => place.parley(words, { env, stdin });
    for (const text of ['one', 'two']) await run(['chat', '-n', '-m', 'echo', text]);
    expect((await run(['sessions', 'delete', '--all', '--yes'])).status).toBe(0);
    await run(['chat', '-m', 'echo', '-'], 'a text that stays '.repeat(20_000));
    // The log is emptied first, so that only the rewrite needs room.
    lookInto(join(env.PARLEY_DATA_DIR, 'parley.db'), (database) =>
      database.pragma('wal_checkpoint(TRUNCATE)'),
    );
    disk?.fill(100);
    const purge = ['sessions', 'purge', '--deleted-before', '0d'];
    const failed = await run([...purge, '--confirm', '2']);
    expectFailure(failed, { status: 7, code: 'STORAGE_FULL' });
    expect(failed.err).toContain('Erased 2 sessions before it stopped.');
    disk?.free();
    expect((await run(purge)).status).toBe(0);
    expect((await run(purge)).err).toContain('Nothing to erase');
  },
);
