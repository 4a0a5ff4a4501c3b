// Shared reads of a server: all requests of one moment see one state of the store, and never an older one.
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as eventLoopTurned } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { newKey, newSession } from '../store-samples.ts';

async function storeWithSession() {
  const directory = temporaryDirectory();
  const { store, shareReads } = await openSqliteStore(storeOptions(directory));
  const key = newKey();
  const { project_id: project, key_id } = await store.createKey(key);
  const session = await newSession(store, project, { title: 'old' });
  const elsewhere = (sql: string) =>
    lookInto(join(directory, 'parley.db'), (database) => void database.exec(sql));
  return {
    store,
    shareReads,
    title: async () => (await store.findSession(project, session))?.title,
    rename: (title: string) => store.changeSession(project, session, { title }),
    renameElsewhere: (title: string) => elsewhere(`UPDATE sessions SET title = '${title}'`),
    revokeElsewhere: () => elsewhere(`UPDATE api_keys SET revoked_at = 1 WHERE key_id = '${key_id}'`),
    isKnown: async () => (await store.findKey(key.hash)) !== null,
  };
}

it('a read sees the last commit of another process', async () => {
  const { store, title, renameElsewhere } = await storeWithSession();
  expect(await title()).toBe('old');
  renameElsewhere('new');
  expect(await title()).toBe('new');
  await store.close();
});

it('shared reads see one moment, and those of the next turn of the event loop a later one', async () => {
  const { store, shareReads, title, renameElsewhere, revokeElsewhere, isKnown } = await storeWithSession();
  shareReads();
  expect([await isKnown(), await title()]).toEqual([true, 'old']);
  renameElsewhere('new');
  revokeElsewhere();
  expect([await isKnown(), await title()]).toEqual([true, 'old']);
  await eventLoopTurned();
  expect([await isKnown(), await title()]).toEqual([false, 'new']);
  await store.close();
});

it('a write of this process ends the shared reads, so that it is visible at once', async () => {
  const { store, shareReads, title, rename } = await storeWithSession();
  shareReads();
  expect(await title()).toBe('old');
  await rename('new');
  expect(await title()).toBe('new');
  await store.close();
});

it('a shared read succeeds at every moment of a write', async () => {
  const { store, shareReads, title, rename } = await storeWithSession();
  await rename('old');
  // A write that follows another one at once waits for a turn of the event loop.
  await delay(5);
  shareReads();
  const write = rename('new');
  const reads: ReturnType<typeof title>[] = [];
  // Each read begins one step of the write's promises after the one before.
  for (let step = 0; step < 50; step += 1) {
    reads.push(title());
    await null;
  }
  await write;
  for (const one of await Promise.all(reads)) expect(['old', 'new']).toContain(one);
  await store.close();
});

it('a store can be closed while reads are shared', async () => {
  const { store, shareReads, title } = await storeWithSession();
  shareReads();
  expect(await title()).toBe('old');
  await store.close();
  await eventLoopTurned();
  await expect(title()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
