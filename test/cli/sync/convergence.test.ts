// Random edits at two and three places, synced in any order: at the end all have the same sessions, and no acknowledged edit is lost. `node
// scripts/sync-storm.js` runs many more sequences.
import { afterAll, beforeAll, describe, it } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/open.ts';
import { postgresOptions } from '../../support/postgres-store.ts';
import { runs } from '../../support/runs.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { expectConvergence } from '../../support/sync-sequences.ts';
import { SyncedPlaces } from '../../support/synced-places.ts';

describe('a sync', () => {
  let places: SyncedPlaces;
  beforeAll(async () => {
    places = await SyncedPlaces.open([0, 40, -25]);
  });
  afterAll(() => places.close());

  for (const [count, few, many] of [
    [2, 6, 6000],
    [3, 4, 4000],
  ] as const) {
    it(`of ${count} places in any order ends with the same sessions, and loses nothing`, () =>
      expectConvergence(places, count, { numRuns: runs(few, many) }));
  }

  it('of a place in PostgreSQL with one in SQLite does so, too', async () => {
    const database = await sharedPostgres();
    const open = async () => (await openPostgresStore(postgresOptions(database))).store;
    const both = await SyncedPlaces.open([0, 40], [open]);
    try {
      await expectConvergence(both, 2, { numRuns: runs(3, 300) });
    } finally {
      await both.close();
    }
  });
});
