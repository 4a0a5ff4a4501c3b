// The part of a backup whose process was killed is removed by the next backup to its directory; the part of a living process is not.
import type { ChildProcess } from 'node:child_process';
import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endOf, Place } from '../support/parley.ts';
import { fillStore } from '../support/stored-sessions.ts';

let place: Place;
let directory: string;
let session: string;
beforeAll(async () => {
  place = new Place();
  directory = place.configDirectory;
  await place.output(['models']);
  [session = ''] = fillStore(place.storeFile, 30_000);
}, 60_000);
afterAll(() => place.remove());

const parts = () => readdirSync(directory).filter((name) => name.endsWith('.part'));

/** Starts a backup, and resolves when its part has rows: while it opens the store, a suspended process may hold its lock. */
async function startedBackup(name: string): Promise<ChildProcess> {
  const child = place.spawn(['store', 'backup', join(directory, name)]);
  const hasBegun = () =>
    parts().some((part) => part.startsWith(`.${name}.`) && statSync(join(directory, part)).size > 0);
  await expect.poll(hasBegun, { timeout: 10_000, interval: 5 }).toBe(true);
  return child;
}

test('the part of a killed backup is removed by a later one, and that of a suspended backup is kept', async () => {
  const killed = await startedBackup('monday.backup');
  killed.kill('SIGKILL');
  await endOf(killed);
  const [left = ''] = parts();
  const suspended = await startedBackup('tuesday.backup');
  suspended.kill('SIGSTOP');
  const [living = '', ...others] = parts();
  expect([living.startsWith('.tuesday.backup.'), others]).toEqual([true, []]);
  expect(left).not.toBe(living);
  await place.output(['store', 'backup', join(directory, 'wednesday.backup')]);
  await place.output(['sessions', 'export', session, '-o', join(directory, 'one.json')]);
  expect(parts()).toEqual([living]);
  suspended.kill('SIGCONT');
  expect((await endOf(suspended)).status).toBe(0);
  expect(parts()).toEqual([]);
  await place.output(['store', 'verify', join(directory, 'tuesday.backup')]);
});

test('a part of another machine is removed after a day, and the file of another program never', async () => {
  const old = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);
  const write = (name: string, isOld: boolean) => {
    writeFileSync(join(directory, name), '');
    if (isOld) utimesSync(join(directory, name), old, old);
  };
  const other = 'parley.17.12345.0123456789ab.x1y2z3';
  write(`.old.${other}.part`, true);
  write(`.new.${other}.part`, false);
  write('.foreign.x1y2z3.part', true);
  await place.output(['store', 'backup', join(directory, 'another.backup')]);
  expect(parts()).toEqual(['.foreign.x1y2z3.part', `.new.${other}.part`]);
});
