// A damaged file: the error names it and its newest copy, and no byte of it changes.
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { everySession, newProject, newSession, startOfTime } from '../store-samples.ts';

const pageBytes = 4096;

async function closedStore(sessions = 40) {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const ids: string[] = [];
  for (let number = 0; number < sessions; number += 1) {
    ids.push(await newSession(store, project, { title: 'x'.repeat(200) }));
  }
  await store.close();
  return { directory, project, ids, path: join(directory, 'parley.db') };
}

/** Inverts every byte of some pages. */
function flip(path: string, from: number, to = Number.POSITIVE_INFINITY): void {
  const bytes = readFileSync(path);
  const end = Math.min(bytes.length, to);
  for (let index = from; index < end; index += 1) bytes[index] = (bytes[index] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

it.each([
  ['whose header is garbage', (path: string) => flip(path, 0, 100)],
  ['that is no database at all', (path: string) => writeFileSync(path, 'To be, or not to be. '.repeat(500))],
  ['that was cut short', (path: string) => truncateSync(path, 3 * pageBytes)],
  ['whose pages are garbage', (path: string) => flip(path, pageBytes)],
])('refuses a file %s and leaves every byte of it', async (_, damage) => {
  const { directory, path } = await closedStore();
  writeFileSync(`${path}.backup-v2`, '');
  writeFileSync(`${path}.backup-v10`, '');
  damage(path);
  const before = readFileSync(path);
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringContaining(path),
    hint: expect.stringContaining(`${path}.backup-v10`),
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});

it('reports that there is no copy', async () => {
  const { directory, path } = await closedStore();
  flip(path, 0, 100);
  await expect(openSqliteStore(storeOptions(directory))).rejects.toMatchObject({
    hint: expect.stringContaining('no backup'),
  });
});

it('reports damage that only some calls read, and changes nothing', async () => {
  const { directory, project, ids, path } = await closedStore(400);
  // The last quarter of the file: rows and index pages of sessions, which opening does not read.
  const { length } = readFileSync(path);
  flip(path, Math.floor((length * 3) / 4 / pageBytes) * pageBytes);
  const before = readFileSync(path);
  const { store } = await openSqliteStore(storeOptions(directory));
  expect((await store.inspect()).integrity).not.toBe('ok');
  const damaged = { code: 'STORE_DAMAGED' };
  await expect(
    store.listSessions(project, everySession({ limit: 1000, titleMatch: 'y*' })),
  ).rejects.toMatchObject(damaged);
  await expect(store.deleteSessions(project, ids, startOfTime, null)).rejects.toMatchObject(damaged);
  await store.close();
  expect(readFileSync(path).equals(before)).toBe(true);
});
