// A long session is taken in in steps: reads are answered in between and see none of it before all, and what fails leaves nothing.
import { setImmediate as eventLoopTurned } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { SessionRecord } from '../../../src/service/session-archive.ts';
import { storeOptions } from '../../support/store-options.ts';
import { openTestStore, temporaryDirectory } from '../../support/test-store.ts';
import { at, newId, newProject, newSession, once, startOfTime } from '../store-samples.ts';

const count = 3000;

function longRecord(): SessionRecord {
  const session_id = newId('ses');
  const session = { session_id, title: null, created_at: at(0), updated_at: at(0), message_count: count };
  const messages = Array.from({ length: count }, (_, position) => ({
    ...{ message_id: newId('msg'), position, content: `said ${position}`, mode: 'echo', usage: null },
    role: position % 2 === 0 ? ('user' as const) : ('assistant' as const),
    finish_reason: position % 2 === 0 ? null : ('stop' as const),
    created_at: at(0),
  }));
  return { session, messages };
}

it('while a long session is imported reads are answered, and none sees a part of it', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const [mine, other] = [await newProject(store), await newProject(store)];
  const session = await newSession(store, other);
  const record = longRecord();
  const { session_id } = record.session;
  let isOver = false;
  const importing = store.importSession(mine, record, once('import')).finally(() => {
    isOver = true;
  });
  let reads = 0;
  while (!isOver && reads < 10) {
    expect(await store.findSession(other, session)).not.toBeNull();
    expect(await store.findSession(mine, session_id)).toBeNull();
    reads += 1;
    await eventLoopTurned();
  }
  expect(reads).toBe(10);
  // A write waits for the end of it, and no longer.
  expect(await store.renameSession(other, session, 'new')).not.toBeNull();
  expect(await importing).toEqual({ kind: 'done', value: record.session });
  expect(await store.findSession(mine, session_id)).toEqual(record.session);
  const last = await store.history(mine, session_id, count, 1);
  expect(last).toEqual([record.messages.at(-1)]);
  expect(await store.importSession(mine, record, once('import'))).toEqual(await importing);
  expect(await store.importSession(mine, record, null)).toEqual(await importing);
  const { messages } = record;
  const changed = messages.map((message, index) =>
    index === count - 1 ? { ...message, content: 'other' } : message,
  );
  expect(await store.importSession(mine, { ...record, messages: changed }, null)).toEqual({
    kind: 'done',
    value: null,
  });
});

it('a long import that fails leaves nothing, and the writes that waited for it are kept', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const project = await newProject(store);
  const record = longRecord();
  const messages = record.messages.map((message, index) =>
    index === count - 1 ? { ...message, position: 0 } : message,
  );
  const failing = store.importSession(project, { ...record, messages }, once('import'));
  const create = store.createSession(
    project,
    { session_id: 'ses_beside', title: null, now: startOfTime },
    null,
  );
  await expect(failing).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
  await create;
  expect(await store.findSession(project, 'ses_beside')).not.toBeNull();
  expect(await store.findSession(project, record.session.session_id)).toBeNull();
  expect(await store.importSession(project, record, once('import'))).toMatchObject({ kind: 'done' });
});

it('a store that is closed while a long session is imported keeps it whole first', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  const record = longRecord();
  const importing = store.importSession(project, record, null);
  await store.close();
  expect(await importing).toEqual({ kind: 'done', value: record.session });
  const { store: again } = await openTestStore(storeOptions(directory));
  expect(await again.history(project, record.session.session_id, count, 1)).toHaveLength(1);
});
