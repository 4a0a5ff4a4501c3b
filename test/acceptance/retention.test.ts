// Retention for an admin: the commands, a server that runs the policies, and runs that are killed.
import { expect, onTestFinished, test } from 'vitest';
import type { Place } from '../support/parley.ts';
import { PlaceInProcess } from '../support/place-in-process.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { lookInto } from '../support/raw-database.ts';
import { removeAfterTest } from '../support/remove-after-test.ts';
import { killedRuns, oldStore } from '../support/retention-storm.ts';
import { type ServedPlace, servePlace } from '../support/served-place.ts';
import { postgresStorm } from '../support/storm-store.ts';

function age(place: Place, days: number): void {
  lookInto(place.storeFile, (database) =>
    database.exec(`UPDATE sessions SET updated_at = updated_at - ${days} * 86400000`),
  );
}

test('a policy is set, shown, tried with --dry-run, confirmed by its count, and undone', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  expect((await place.parley(['retention', 'show'])).err).toContain('No policy is set, so nothing expires.');
  const none = await place.parley(['retention', 'run', '--yes']);
  expect(none).toMatchObject({ status: 2, out: '' });
  expect(none.err).toContain('has no policy');
  const ids = [await place.newSession(), await place.newSession()].sort();
  age(place, 100);
  const young = await place.newSession();
  await place.output(['retention', 'set', '--after', '90d', '--keep-last', '1', '--erase-after', '30d']);
  expect(await place.output(['retention', 'show'])).toContain(
    'policy: expire after 90d without activity, keep the newest 1, erase 30d later\n',
  );
  expect(await place.output(['retention', 'run', '--dry-run'])).toBe(
    '2 sessions of project default would expire.\n',
  );
  const unconfirmed = await place.parley(['retention', 'run', '--yes']);
  expect(unconfirmed).toMatchObject({ status: 2, out: '' });
  expect(unconfirmed.err).toContain('--confirm 2');
  const wrong = await place.parley(['retention', 'run', '--confirm', '3', '--json']);
  expect(wrong.status).toBe(2);
  expect(JSON.parse(wrong.out).error.message).toContain('affects 2 sessions, not 3');
  expect((await place.output(['sessions', 'list', '--ids'])).trim().split('\n')).toHaveLength(3);
  expect(await place.output(['retention', 'run', '--confirm', '2'])).toBe(
    'Expired 2 sessions of project default, and erased 0.\n',
  );
  expect(await place.output(['sessions', 'list', '--ids'])).toBe(`${young}\n`);
  expect(await place.output(['sessions', 'batches'])).toMatch(/^ret_\w+\t\S+\t2\t0\t\there\texpire\n$/);
  expect(await place.output(['sessions', 'restore', '--last'])).toMatch(
    /^Restored 2 sessions of batch ret_\w+\.\n$/,
  );
  expect((await place.output(['sessions', 'list', '--ids'])).trim().split('\n').sort()).toEqual(
    [...ids, young].sort(),
  );
  expect(await place.output(['retention', 'run', '--yes'])).toContain('Expired 0 sessions');
  expect((await place.parley(['sessions', 'restore', '--last'])).status).toBe(2);
  for (const wrong of [
    ['--after', '0d'],
    ['--after', '2026-01-01'],
    ['--keep-last', '1'],
  ])
    expect((await place.parley(['retention', 'set', ...wrong])).status).toBe(2);
  expect((await place.parley(['retention', 'off'])).err).toContain('Nothing expires from now on');
}, 60_000);

test('a first run that would do nothing asks for no count, and confirms nothing', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  await place.newSession();
  const { err } = await place.parley(['retention', 'set', '--after', '90d']);
  expect(err).toContain('so the next run that removes a session needs a confirmed count.');
  const tried = await place.parley(['retention', 'run', '--dry-run']);
  expect(tried).toMatchObject({ status: 0, out: '0 sessions of project default would expire.\n' });
  expect(tried.err).not.toContain('--confirm');
  expect(await place.output(['retention', 'show'])).not.toContain('--confirm 0');
  const first = await place.parley(['retention', 'run']);
  expect(first).toMatchObject({ status: 0, out: 'Expired 0 sessions of project default, and erased 0.\n' });
  age(place, 100);
  const next = await place.parley(['retention', 'run', '--yes']);
  expect(next.status).toBe(2);
  expect(next.err).toContain('--confirm 1');
});

test('a policy of another project is set and run by its name', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  const { key } = await place.answer<{ key: string }>(['keys', 'create', '--project', 'other']);
  await place.output(['sessions', 'create'], { env: { PARLEY_API_KEY: key } });
  const own = await place.newSession();
  age(place, 50);
  await place.output(['retention', 'set', '--after', '30d', '--project', 'other']);
  expect(await place.output(['retention', 'run', '--confirm', '1', '--project', 'other'])).toContain(
    'Expired 1 session of project other',
  );
  expect(await place.output(['sessions', 'list', '--ids'])).toBe(`${own}\n`);
  const unknown = await place.parley(['retention', 'set', '--after', '30d', '--project', 'nowhere']);
  expect(unknown).toMatchObject({ status: 2 });
  const elsewhere = await place.parley(['retention', 'show', '--url', 'http://127.0.0.1:9'], {
    env: { PARLEY_API_KEY: key },
  });
  expect(elsewhere.err).toContain('(UNSUPPORTED)');
}, 60_000);

async function logged(served: ServedPlace, words: string): Promise<Record<string, unknown>> {
  const found = () => served.written.err.split('\n').find((line) => line.includes(words)) ?? '';
  await expect.poll(found).not.toBe('');
  return JSON.parse(found());
}

test('a server says how to confirm a policy and changes nothing; then it runs the policy and counts the expired sessions', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  await place.newSession();
  age(place, 100);
  await place.output(['retention', 'set', '--after', '90d']);
  const first = await servePlace(place, ['--retention-every', '1d']);
  const waits = await logged(first, 'retention needs');
  expect(waits).toMatchObject({ level: 'warn', expire: 1, erase: 0, reason: 'first_run' });
  await first.end('SIGTERM');
  expect(place.rows('SELECT * FROM sessions WHERE deleted_at IS NULL')).toHaveLength(1);
  const [program, ...words] = String(waits['confirm']).split(' ');
  expect(program).toBe('parley');
  expect(await place.output(words)).toContain('Expired 1 session');
  await place.newSession();
  age(place, 100);
  lookInto(place.storeFile, (database) =>
    database.exec('UPDATE retention SET last_run_at = last_run_at - 2 * 86400000'),
  );
  const second = await servePlace(place, ['--retention-every', '1d', '--metrics', '0', '--json']);
  expect(await logged(second, 'retention ran')).toMatchObject({ expired: 1, erased: 0, finished: true });
  const metrics = await (await fetch(JSON.parse(second.written.out).data.metrics)).text();
  expect(metrics).toContain('parley_retention_sessions_total{action="expired"} 1\n');
  expect(metrics).toMatch(/^parley_retention_last_run_timestamp_seconds \d+/m);
  await second.end('SIGTERM');
}, 60_000);

test('killed runs are continued with one batch, which restores all of their sessions', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  const { expire } = await oldStore(place, 10_000);
  expect(expire).toBe(9890);
  const { faults } = await killedRuns(place, { expire, kills: 2, pauseMs: () => 0 });
  expect(faults).toEqual([]);
}, 120_000);

test('in PostgreSQL, runs whose process is killed and whose connections end are continued with one batch', async () => {
  const place = removeAfterTest(new PlaceInProcess());
  const database = await startPostgres([]);
  onTestFinished(() => database.stop());
  const { port, user, database: name } = database;
  const store = postgresStorm(database, `postgres://${user}@127.0.0.1:${port}/${name}`);
  const { expire } = await oldStore(place, 5_000, store);
  const { faults } = await killedRuns(place, { expire, kills: 2, pauseMs: () => 0 }, store);
  expect(faults).toEqual([]);
}, 120_000);
