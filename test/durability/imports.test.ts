// Imports that are killed and resumed, and two imports at once: each session is there once, and belongs to one import.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { importStorm, keptIn, writeConversations } from '../support/import-storm.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { servePlace } from '../support/served-place.ts';

const newPlace = () => removeAfterTest(new PlaceInProcess());

function statusOf(out: string): ReadonlyMap<string, string> {
  const lines = out.split('\n').slice(0, -1);
  return new Map(lines.map((line) => JSON.parse(line)).map(({ session_id, status }) => [session_id, status]));
}

test('two imports of the same conversations at once store each session once, and each belongs to one of them', async () => {
  const place = newPlace();
  await place.output(['models']);
  const file = join(place.path, 'conversations.json');
  writeConversations(file, 150);
  const words = ['sessions', 'import', '--json', file];
  const [one, other] = (await Promise.all([place.binary(words), place.binary(words)])).map(({ out }) => out);
  const [first, second] = [statusOf(one ?? ''), statusOf(other ?? '')];
  expect(first.size).toBe(180);
  for (const [id, status] of first) {
    expect([status, second.get(id)].toSorted()).toEqual(['imported', 'unchanged']);
  }
  const stored = keptIn(place);
  expect(stored.size).toBe(180);
  const batches = await place.answer<{ batch: string; imported: number }[]>(['sessions', 'batches']);
  expect(batches.reduce((sum, { imported }) => sum + imported, 0)).toBe(180);
  const mine = [...first.values()].filter((status) => status === 'imported').length;
  const [batch] = batches.filter(({ imported }) => imported === mine);
  if (batch !== undefined) await place.output(['sessions', 'restore', '--batch', batch.batch]);
  const [left] = place.rows<{ n: number }>('SELECT count(*) AS n FROM sessions WHERE deleted_at IS NULL');
  expect(left?.n).toBe(180 - mine);
});

test('two machines that import the same conversations into one server store each session once, and each gets a result for it', async () => {
  const place = newPlace();
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'team']);
  const served = await servePlace(place);
  const file = join(place.path, 'conversations.json');
  writeConversations(file, 60);
  const remote = { PARLEY_URL: served.url, PARLEY_API_KEY: key };
  const [one, other] = await Promise.all(
    [newPlace(), newPlace()].map(async (machine) => {
      const { status, out } = await machine.binary(['sessions', 'import', '--json', file], { env: remote });
      expect(status).toBe(0);
      return statusOf(out);
    }),
  );
  await served.end('SIGTERM');
  expect([one?.size, other?.size]).toEqual([72, 72]);
  for (const [id, status] of one ?? []) {
    const both = [status, other?.get(id)];
    // The two imports do not know each other, so both may report that they stored a session, which exists once.
    expect(['imported', 'unchanged']).toEqual(expect.arrayContaining(both));
    expect(both).toContain('imported');
  }
  expect(keptIn(place).size).toBe(72);
});

test('an import that is killed and resumed gives what one gives that nothing disturbs', async () => {
  const storm = { kills: 2, conversations: 60, random: Math.random };
  const { kills, faults } = await importStorm(newPlace, storm);
  expect([kills, faults]).toEqual([2, []]);
});
