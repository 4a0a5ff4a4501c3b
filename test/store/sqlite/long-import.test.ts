// A long session is imported in steps: reads run in between and see no part of it, and a failed import leaves nothing.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as eventLoopTurned } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { Session } from '../../../src/service/session.ts';
import type { SessionRecord } from '../../../src/service/session-archive.ts';
import { longestLeaseMs, type SessionStore } from '../../../src/store/session-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { lookInto, RawDatabase } from '../../support/raw-database.ts';
import { sinceBoot, storeOptions } from '../../support/store-options.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import {
  at,
  bareSession,
  everySession,
  newId,
  newProject,
  newSession,
  once,
  search,
  startOfTime,
} from '../store-samples.ts';

const count = 3000;

function longRecord(): SessionRecord & { readonly session: Session } {
  const session_id = newId('ses');
  const facts = { session_id, title: null, created_at: at(0), updated_at: at(0), message_count: count };
  const session = { ...facts, ...bareSession, mode: 'echo', system: 'Answer in French.' };
  const messages = Array.from({ length: count }, (_, position) => ({
    ...{ message_id: newId('msg'), position, content: `said ${position}`, mode: 'echo', usage: null },
    role: position % 2 === 0 ? ('user' as const) : ('assistant' as const),
    finish_reason: position % 2 === 0 ? null : ('stop' as const),
    created_at: at(0),
  }));
  return { session, messages };
}

it('while a long session is imported, reads are answered, and none sees a part of it', async () => {
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

it('a long import that fails leaves nothing, and the writes that waited for it are stored', async () => {
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

it('a store that is closed during a long import stores the whole session first', async () => {
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

it('during a long import the writes of others wait for one part of it at most', async () => {
  const { store } = await openTestStore(storeOptions(temporaryDirectory()));
  const [mine, other] = [await newProject(store), await newProject(store)];
  const session = await newSession(store, other);
  let isOver = false;
  const importing = Promise.all(
    [longRecord(), longRecord()].map((one) => store.importSession(mine, one, null)),
  );
  const ended = importing.then(() => {
    isOver = true;
  });
  let writes = 0;
  for (; !isOver; writes += 1) await store.changeSession(other, session, { title: `name ${writes}` });
  await ended;
  // Each of the two sessions is written in twelve parts.
  expect(writes).toBeGreaterThan(12);
});

/** All sessions and messages that the calls of a store return. */
async function answersOf(store: SessionStore, project: string) {
  const purge = { projectId: null, deletedBefore: Number.MAX_SAFE_INTEGER };
  const lists = [false, true].map((deleted) => store.listSessions(project, everySession({ deleted })));
  return {
    sessions: (await Promise.all(lists)).flatMap(({ items }) => items),
    found: (await search(store, project, 'said')).items,
    usage: await Promise.all((['mode', 'session', 'day'] as const).map((by) => store.usage(0, by))),
    purge: (await store.planPurge(purge)).sessions,
    integrity: (await store.inspect()).integrity,
  };
}

const nothing = { sessions: [], found: [], usage: [[], [], []], purge: 0, integrity: 'ok' };

it('an import whose process ends in the middle is never visible, and a minute later nothing of it is left', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  const record = longRecord();
  const importing = store.importSession(project, record, once('import'));
  for (let turn = 0; turn < 8; turn += 1) await eventLoopTurned();
  // The content of the disk after a power cut. `cp` copies it, because a process that closes a file of SQLite drops SQLite's locks.
  const [cut, later] = [join(temporaryDirectory(), 'cut'), join(temporaryDirectory(), 'later')];
  for (const copy of [cut, later]) execFileSync('cp', ['-r', directory, copy]);
  await importing;
  const { found, ...whole } = await answersOf(store, project);
  expect(whole).toMatchObject({ sessions: [record.session], integrity: 'ok' });
  expect(found).toHaveLength(1);

  const { store: again } = await openTestStore(storeOptions(cut));
  expect(await answersOf(again, project)).toEqual(nothing);
  expect(await again.importSession(project, record, once('import'))).toEqual(await importing);

  const clock = () => sinceBoot() + 61_000;
  const { store: last } = await openSqliteStore({ ...storeOptions(later), sinceBoot: clock });
  expect(await answersOf(last, project)).toEqual(nothing);
  await last.close();
  lookInto(join(later, 'parley.db'), (database) => {
    for (const table of ['sessions', 'messages', 'imports', 'search_waiting', 'search_apart'])
      expect(database.prepare(`SELECT * FROM ${table}`).all()).toEqual([]);
    for (const table of ['message_words', 'message_pieces'])
      database.prepare(`INSERT INTO ${table} (${table}, rank) VALUES ('integrity-check', 1)`).run();
  });
});

it('an import that lasts longer than its lease is not taken for abandoned', async () => {
  const directory = temporaryDirectory();
  let clock = sinceBoot();
  const options = { ...storeOptions(directory), sinceBoot: () => clock };
  const { store } = await openTestStore(options);
  const project = await newProject(store);
  const record = longRecord();
  const raw = new RawDatabase(join(directory, 'parley.db'), { readonly: true });
  onTestFinished(() => {
    raw.close();
  });
  const ends = raw.prepare('SELECT held_until FROM imports').pluck();
  const begun = clock;
  let isOver = false;
  const importing = store.importSession(project, record, null).finally(() => {
    isOver = true;
  });
  // Each lease is almost over when the next part is written.
  while (!isOver && clock <= begun + 2 * longestLeaseMs) {
    await eventLoopTurned();
    const end = ends.get();
    if (typeof end === 'number') clock = Math.max(clock, end - 1000);
  }
  expect(clock).toBeGreaterThan(begun + longestLeaseMs);
  await openTestStore(options);
  expect(await importing).toEqual({ kind: 'done', value: record.session });
});

it('an import that another takes for abandoned keeps nothing, and says so; the same id is free', async () => {
  const directory = temporaryDirectory();
  const { store } = await openTestStore(storeOptions(directory));
  const project = await newProject(store);
  const record = longRecord();
  const outcome = Promise.allSettled([store.importSession(project, record, null)]);
  for (let turn = 0; turn < 8; turn += 1) await eventLoopTurned();
  // The first step of removing it does the same.
  lookInto(join(directory, 'parley.db'), (database) =>
    database.exec(`UPDATE sessions SET session_id = 'another' WHERE project = 0`),
  );
  expect(await outcome).toMatchObject([{ status: 'rejected', reason: { code: 'STORE_BUSY' } }]);
  expect(await store.listSessions(project, everySession({}))).toMatchObject({ items: [] });
  expect(await store.importSession(project, record, null)).toEqual({ kind: 'done', value: record.session });
});

it('of simultaneous imports with one id, equal ones are one session, and an unequal one is refused and leaves nothing', async () => {
  const directory = temporaryDirectory();
  const { store } = await openSqliteStore(storeOptions(directory));
  const project = await newProject(store);
  const record = longRecord();
  const messages = record.messages.map((message) => ({ ...message, content: 'other' }));
  const same = [once('import'), once('import'), null].map((key) => store.importSession(project, record, key));
  const other = store.importSession(project, { ...record, messages }, null);
  expect(await Promise.all(same)).toEqual(Array(3).fill({ kind: 'done', value: record.session }));
  expect(await other).toEqual({ kind: 'done', value: null });
  await store.close();
  lookInto(join(directory, 'parley.db'), (database) => {
    const counts = `SELECT (SELECT count(*) FROM sessions) AS sessions, (SELECT count(*) FROM messages) AS messages,
      (SELECT count(*) FROM imports) AS imports`;
    expect(database.prepare(counts).get()).toEqual({ sessions: 1, messages: count, imports: 0 });
  });
});
