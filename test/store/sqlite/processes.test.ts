// Several processes on one store: eight open it at once while it does not exist, and others wait while one writes.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockStore } from '../../support/store-lock.ts';
import { storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import {
  everySession,
  firstPage,
  newProject,
  newSession,
  startOfTime,
  turnReply,
  turnStart,
} from '../store-samples.ts';
import { openAtOnce } from './opened-at-once.ts';

// processes.long.ts does so a hundred times.
it('is made once when eight processes open it at the same moment, five times', () => openAtOnce(5), 120_000);

it('waits for another process without stopping its own', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  let ticks = 0;
  const timer = setInterval(() => {
    ticks += 1;
  }, 5);
  const { ended } = await lockStore(join(directory, 'parley.db'), 400);
  ticks = 0;
  const id = await newSession(store, project);
  clearInterval(timer);
  await ended;
  expect(ticks).toBeGreaterThan(10);
  expect(await store.findSession(project, id)).not.toBeNull();
});

it('reads while another process writes', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 0 });
  const project = await newProject(store);
  const id = await newSession(store, project);
  const lock = await lockStore(join(directory, 'parley.db'));
  expect(await store.findSession(project, id)).not.toBeNull();
  await lock.release();
});

it('is not ready while it cannot be written, even if it can be read', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 50 });
  await store.ping();
  const lock = await lockStore(join(directory, 'parley.db'));
  await expect(store.ping()).rejects.toMatchObject({ code: 'STORE_BUSY' });
  expect(await store.listKeys()).toEqual([]);
  await lock.release();
  await store.ping();
});

it('reports that the store is locked when the wait is over, and works after the lock is released', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 50 });
  const project = await newProject(store);
  const id = await newSession(store, project);
  const lock = await lockStore(join(directory, 'parley.db'));
  const locked = { code: 'STORE_BUSY', message: expect.stringContaining(directory) };
  await Promise.all([
    expect(store.deleteSession(project, id, startOfTime)).rejects.toMatchObject(locked),
    expect(store.changeSession(project, id, { title: 'x' })).rejects.toMatchObject(locked),
  ]);
  await lock.release();
  expect(await store.findSession(project, id)).toMatchObject({ title: null });
  expect(await store.deleteSession(project, id, startOfTime)).not.toBeNull();
});

it('waits longer to store a reply than for any other write, because the reply was shown already', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 50 });
  const project = await newProject(store);
  const begun = await store.beginTurn(project, turnStart());
  if (begun.kind !== 'begun') throw new Error(begun.kind);
  const lock = await lockStore(join(directory, 'parley.db'));
  const reply = store.endTurn(project, begun.turn, turnReply({ content: 'kept' }));
  await expect(newSession(store, project)).rejects.toMatchObject({ code: 'STORE_BUSY' });
  await lock.release();
  expect(await reply).toEqual({ kind: 'kept', message_count: 2 });
  const messages = await store.listMessages(project, begun.turn.session_id, firstPage);
  expect(messages?.items.map(({ content }) => content)).toContain('kept');
});

it('drops a turn that waits for the lock as soon as its signal fires, and stores nothing of it', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 600_000 });
  const project = await newProject(store);
  const lock = await lockStore(join(directory, 'parley.db'));
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('stopped')), 50);
  await expect(store.beginTurn(project, turnStart(), stop.signal)).rejects.toThrow('stopped');
  await expect(store.beginTurn(project, turnStart(), stop.signal)).rejects.toThrow('stopped');
  // The other call still waits for the lock.
  const created = newSession(store, project);
  expect(
    (await store.listSessions(project, everySession())).items.map(({ session_id }) => session_id),
  ).toEqual([]);
  await lock.release();
  const id = await created;
  expect(
    (await store.listSessions(project, everySession())).items.map(({ session_id }) => session_id),
  ).toEqual([id]);
});

it('closes at once when nothing waits any more, although the lock is held', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore({ ...storeOptions(directory), lockWaitMs: 600_000 });
  const project = await newProject(store);
  const lock = await lockStore(join(directory, 'parley.db'));
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('stopped')), 50);
  await expect(store.beginTurn(project, turnStart(), stop.signal)).rejects.toThrow('stopped');
  await store.close();
  await lock.release();
});

it('opens while another process writes', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'data'));
  const first = await openTestStore(storeOptions(join(directory, 'data')));
  await newProject(first.store);
  const lock = await lockStore(join(directory, 'data/parley.db'));
  const second = await openTestStore({ ...storeOptions(join(directory, 'data')), lockWaitMs: 0 });
  expect(second.created).toBe(false);
  await lock.release();
});
