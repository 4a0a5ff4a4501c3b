// The batches of deletions for an admin: a list with their counts, and the undo of the last one.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { makeSessions } from '../support/stored.ts';

let place: PlaceInProcess;
beforeEach(async () => {
  place = new PlaceInProcess();
  await place.output(['models']);
});
afterEach(() => place.remove());

async function deleted(ids: readonly string[], ...options: readonly string[]): Promise<string> {
  const { err } = await place.parley(['sessions', 'delete', ...ids, '--yes', ...options]);
  return /--(?:resume|batch) (\S+)/.exec(err)?.[1] ?? '';
}

async function batches() {
  return JSON.parse(await place.output(['sessions', 'batches', '--json'])).data;
}

const isActive = async (id: string) => (await place.parley(['sessions', 'get', id])).status === 0;

test('without batches the list says so, and there is nothing to restore', async () => {
  expect(await batches()).toEqual([]);
  expect((await place.parley(['sessions', 'batches'])).err).toContain('No batches.');
  const { status: code, err } = await place.parley(['sessions', 'restore', '--last']);
  expect(code).toBe(2);
  expect(err).toContain('parley sessions batches');
});

test('batches are listed with their counts, the newest first', async () => {
  const ids = await makeSessions(place, 3, 'one');
  const first = await deleted([...ids, 'ses_none']);
  const second = await deleted(await makeSessions(place, 2, 'two'));
  expect(await batches()).toMatchObject([
    { batch: second, ids: 2, deleted: 2, not_found: 0, left: 0, restored: null },
    { batch: first, ids: 4, deleted: 3, not_found: 1, left: 0, restored: null },
  ]);
  const lines = (await place.output(['sessions', 'batches'])).trimEnd().split('\n');
  expect(lines.map((line) => line.split('\t').slice(2))).toContainEqual(['3', '0', '', 'here', 'delete']);
});

test('a narrow terminal shows what each batch did', async () => {
  await deleted(await makeSessions(place, 2, 'one'));
  await place.output(['sessions', 'restore', '--last']);
  const env = { PAGER: 'cat' };
  const screen = place.screen(['sessions', 'batches'], { columns: 60, rows: 10, env });
  await screen.ended;
  expect(screen.text).toMatch(/^BATCH .* WHAT\n\S+ .* delete$/);
  screen.close();
});

test('--last restores the last batch that is not restored yet, then the one before', async () => {
  const one = await makeSessions(place, 2, 'one');
  const first = await deleted(one);
  const second = await deleted(await makeSessions(place, 2, 'two'));
  for (const batch of [second, first]) {
    const { status: code, err } = await place.parley(['sessions', 'restore', '--last']);
    expect({ code, said: err.includes(`${batch}`) }).toEqual({ code: 0, said: true });
  }
  expect(await Promise.all(one.map(isActive))).toEqual([true, true]);
  const rows = await batches();
  expect(rows.map((row: { restored: unknown }) => row.restored)).toEqual([
    { sessions: 2, at: expect.any(String) },
    { sessions: 2, at: expect.any(String) },
  ]);
  expect((await place.parley(['sessions', 'restore', '--last'])).status).toBe(2);
});

/** Gives the journal of a batch another name and time. */
function changeTime(batch: string, name: string, time: string): void {
  const path = (batch: string) => join(place.dataDirectory, 'batches', `${batch}.journal`);
  const text = readFileSync(path(batch), 'utf8').replace(`"batch":"${batch}"`, `"batch":"${name}"`);
  writeFileSync(path(name), text.replace(/"made_at":"[^"]*"/, `"made_at":"${time}"`));
  rmSync(path(batch));
}

test('the last batch is the one that was confirmed last, whatever the times and the ends of the names', async () => {
  for (const [name, time] of [
    ['20260102-030405-aaaaaa', '2026-01-02T03:10:00.000Z'],
    ['20260102-030405-bbbbbb', '2026-01-02T03:04:05.700Z'],
    ['20260102-030405-cccccc', '2026-01-02T03:04:05.600Z'],
    ['20260102-030900-dddddd', '2026-01-02T03:09:00.000Z'],
  ] as const)
    changeTime(await deleted(await makeSessions(place, 2, name)), name, time);
  const order = ['aaaaaa', 'dddddd', 'bbbbbb', 'cccccc'];
  expect((await batches()).map(({ batch }: { batch: string }) => batch.slice(-6))).toEqual(order);
  for (const end of order)
    expect((await place.parley(['sessions', 'restore', '--last'])).err).toContain(`-${end} (`);
});

test('--last undoes nothing while the newest batch is in the future, because the clock was set back', async () => {
  const ids = await makeSessions(place, 2, 'one');
  const future = '20991231-235959-aaaaaa';
  changeTime(await deleted(ids), future, '2099-12-31T23:59:59.000Z');
  const last = await deleted(await makeSessions(place, 2, 'two'));
  const { status, err } = await place.parley(['sessions', 'restore', '--last']);
  expect(status).toBe(2);
  expect(err).toContain(`batch ${future}`);
  expect(await Promise.all(ids.map(isActive))).toEqual([false, false]);
  for (const batch of [future, last]) await place.output(['sessions', 'restore', '--batch', batch]);
});

test('a batch can be restored again by its name, and its sessions can be deleted again', async () => {
  const ids = await makeSessions(place, 2, 'one');
  const batch = await deleted(ids);
  await place.output(['sessions', 'restore', '--last']);
  const again = await place.parley(['sessions', 'restore', '--batch', batch]);
  expect(again.status).toBe(0);
  const next = await deleted(ids);
  expect(next).not.toBe(batch);
  expect((await place.parley(['sessions', 'restore', '--last'])).err).toContain(next);
});

test('a file that is not a complete journal is named, and the others are listed', async () => {
  const batch = await deleted(await makeSessions(place, 2, 'one'));
  const directory = join(place.dataDirectory, 'batches');
  writeFileSync(join(directory, '20200101-000000-aaaaaa.journal'), 'ses_a\nses_b\n');
  const { out, err } = await place.parley(['sessions', 'batches']);
  expect(out).toContain(batch);
  expect(err).toContain('20200101-000000-aaaaaa.journal: it is not a complete journal of a batch.');
  appendFileSync(join(directory, `${batch}.journal`), 'restored 2');
  expect(await batches()).toMatchObject([{ batch, restored: null }]);
});

test('--last passes over a batch of another project', async () => {
  await deleted(await makeSessions(place, 2, 'one'));
  const { status: code } = await place.parley(['sessions', 'restore', '--last', '--batch', 'x']);
  expect(code).toBe(2);
  const key = (await place.output(['keys', 'create', '--project', 'other', '--name', 'k'])).trim();
  const elsewhere = { PARLEY_API_KEY: key };
  expect((await place.parley(['sessions', 'restore', '--last'], { env: elsewhere })).status).toBe(2);
  expect((await place.parley(['sessions', 'restore', '--last'])).status).toBe(0);
});

test('--last undoes an import that came after the last deletion', async () => {
  const [one = '', other = ''] = await makeSessions(place, 2, 'one');
  const record = await place.output(['sessions', 'export', one, '--format', 'json']);
  const first = await deleted([one, other]);
  await place.parley(['sessions', 'import', '-'], { stdin: record.replaceAll(one, 'ses_imported') });
  const undone = await place.parley(['sessions', 'restore', '--last', '--yes']);
  expect(undone.err).toMatch(/^Batch \S+ \(.*\) imported 1 session\.$/m);
  expect(await isActive('ses_imported')).toBe(false);
  expect((await place.parley(['sessions', 'restore', '--last'])).err).toContain(first);
  expect(await Promise.all([one, other].map(isActive))).toEqual([true, true]);
});
