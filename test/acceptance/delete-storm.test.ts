// Deletions against a server that fails in every way, and batches whose clients are killed. scripts/delete-storm.js is the long form.
import { expect, onTestFinished, test } from 'vitest';
import { killedClients, troubledDeletes } from '../support/delete-storm.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { runs } from '../support/runs.ts';
import { postgresStorm, sqliteStorm } from '../support/storm-store.ts';

const newPlace = () => removeAfterTest(new PlaceInProcess());

const troubled = runs(400, 1000);

test(`the reports of ${troubled} deletions match the sessions of a failing server, also over a revoked key`, async () => {
  const { faults, counts, statuses } = await troubledDeletes(newPlace(), {
    ids: troubled,
    random: Math.random,
  });
  expect(faults).toEqual([]);
  expect((counts['deleted'] ?? 0) + (counts['not_found'] ?? 0)).toBe(troubled);
  expect(counts['not_found']).toBeGreaterThan(troubled / 200);
  expect([statuses[0], statuses.at(-1)]).toEqual([4, 3]);
}, 120_000);

test.each([
  ['delete', 2000, 2],
  ['tag', 1000, 2],
] as const)(
  'a killed and resumed batch (%s) does all that was asked for, and nothing else',
  async (kind, ids, maxKills) => {
    const place = newPlace();
    await place.output(['models']);
    const existing = await sqliteStorm(place).fill(ids + 1, Date.now() - ids - 1);
    const { faults, kills } = await killedClients(place, {
      ...{ kind, ids, kills: maxKills, existing },
      random: Math.random,
    });
    expect(faults).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(maxKills);
  },
  120_000,
);

test('in PostgreSQL, a batch whose process is killed and whose connections end is completed', async () => {
  const place = newPlace();
  const server = await startPostgres([]);
  onTestFinished(() => server.stop());
  const store = postgresStorm(server, `postgres://${server.user}@127.0.0.1:${server.port}/postgres`);
  await place.output(['keys', 'create', '--project', 'default', '--use'], { env: store.env });
  const existing = await store.fill(2001, Date.now() - 2001);
  const options = { kind: 'archive', ids: 2000, kills: 2, existing, random: Math.random } as const;
  const { faults, kills } = await killedClients(place, options, store);
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThanOrEqual(2);
}, 120_000);
