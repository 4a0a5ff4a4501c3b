// A served store runs long reads in processes of its own: other calls are answered during searches and filters, and the results are
// the same.
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { setImmediate as eventLoopTurned } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { SessionStore } from '../../../src/store/session-store.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { type ProcessesOf, StoreProcesses } from '../../../src/store/sqlite/store-processes.ts';
import { builtFile } from '../../support/built-file.ts';
import { processorMs } from '../../support/processor-time.ts';
import { lookInto } from '../../support/raw-database.ts';
import { storeOptions } from '../../support/store-options.ts';
import { fillStore } from '../../support/stored-sessions.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { everySession, newProject, newSession, searchFilter, turnStart } from '../store-samples.ts';

const workerFile = builtFile('store-worker');
const processes: ProcessesOf = (place) => new StoreProcesses(workerFile, place);
const never = new AbortController().signal;

function search(store: SessionStore, project: string, query: string, signal = never) {
  return store.searchSessions(project, searchFilter(query, { limit: 5 }), signal);
}

/** Two projects with one session each. The first session holds `count` messages, which are indexed already. */
async function filledStore(count: number, content: string) {
  const directory = temporaryDirectory();
  const { store: made } = await openSqliteStore(storeOptions(directory));
  const [large, small] = [await newProject(made), await newProject(made)];
  const [crowded, session] = [await newSession(made, large), await newSession(made, small)];
  await made.close();
  lookInto(join(directory, 'parley.db'), (database) =>
    database.exec(`
      PRAGMA synchronous = OFF;
      BEGIN;
      INSERT INTO messages (session, position, message_id, role, mode, finish_reason, created_at, content)
        WITH numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})
        SELECT id, n, 'msg_' || n, 'user', 'echo', NULL, n, ${content} FROM numbers JOIN sessions
        WHERE session_id = '${crowded}';
      DELETE FROM search_waiting;
      INSERT INTO message_words (rowid, content, owner) SELECT id, content, owner FROM message_words_source;
      INSERT INTO message_pieces (rowid, content, owner) SELECT id, content, owner FROM message_pieces_source;
      COMMIT;`),
  );
  const { store } = await openTestStore({ ...storeOptions(directory), processes });
  return { directory, store, large, small, session };
}

async function costOf(work: () => Promise<unknown>): Promise<number> {
  const start = processorMs();
  await work();
  return processorMs() - start;
}

async function tenTimes(work: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < 10; time += 1) await work();
}

/** Expects that the processes do most of some work that another store does in this process. */
async function expectElsewhere(
  work: (from: SessionStore) => Promise<unknown>,
  store: SessionStore,
  alone: SessionStore,
) {
  const here = await costOf(() => work(alone));
  const there = await costOf(() => work(store));
  expect(there).toBeLessThan(here / 2);
}

it('while a search reads every word of a store, others are answered, and their searches too', async () => {
  const content = `'w' || (n * 7919 % 20011) || ' w' || (n * 104729 % 19997) || ' said'`;
  const { directory, store, large, small, session } = await filledStore(4000, content);
  await store.beginTurn(small, turnStart({ content: 'what another said' }));
  // The processes have started before the measurement.
  await Promise.all([search(store, large, 'said'), search(store, small, 'said')]);
  const { store: alone } = await openTestStore(storeOptions(directory));
  await expectElsewhere((from) => tenTimes(() => search(from, large, 'w* w1* w2*')), store, alone);
  let isOver = false;
  const hostile = Promise.all(['w*', 'w* s*', '"said said"'].map((query) => search(store, large, query)));
  void hostile.then(() => {
    isOver = true;
  });
  expect((await search(store, small, 'anoth*')).items).toHaveLength(1);
  expect(await store.findSession(small, session)).not.toBeNull();
  expect(await store.changeSession(small, session, { title: 'new' })).not.toBeNull();
  expect(isOver).toBe(false);
  await hostile;
  for (const query of ['w*', 'w19* said', '"said said"'])
    expect(await search(store, large, query)).toEqual(await search(alone, large, query));
});

it('while a long message is indexed, reads are answered, and a search finds the message afterwards', async () => {
  const { store, small, session } = await filledStore(1, `'said'`);
  const { store: alone } = await openTestStore(storeOptions(temporaryDirectory()));
  const elsewhere = await newProject(alone);
  await search(store, small, 'said');
  const words = Array.from({ length: 300_000 }, (_, index) => `x${(index * 7919).toString(36)}`);
  const content = `${words.join(' ')} 東京`;
  await store.beginTurn(small, turnStart({ content }));
  await alone.beginTurn(elsewhere, turnStart({ content }));
  const find = async (from: SessionStore) =>
    expect((await search(from, from === store ? small : elsewhere, '東京')).items).toHaveLength(1);
  await expectElsewhere(find, store, alone);
  expect(await store.findSession(small, session)).not.toBeNull();
});

it('while filters read many sessions, other calls are answered, and a page is the same as without processes', async () => {
  const { directory, store, large, small, session } = await filledStore(1, `'said'`);
  fillStore(join(directory, 'parley.db'), 10_000);
  const { store: alone } = await openTestStore(storeOptions(directory));
  const filters = ['nothing*', 'title 1*9'].map((titleMatch) => everySession({ titleMatch, order: 'asc' }));
  const list = (from: SessionStore) => Promise.all(filters.map((filter) => from.listSessions(large, filter)));
  const pages = await list(store);
  expect(pages).toEqual(await list(alone));
  expect(pages[1]?.items.length).toBeGreaterThan(1);
  const many = (from: SessionStore) => Promise.all(Array.from({ length: 10 }, () => list(from)));
  await expectElsewhere(many, store, alone);
  const begun = many(store);
  expect(await store.findSession(small, session)).not.toBeNull();
  expect(await begun).toEqual(Array(10).fill(pages));
});

it('a process finds a short word, and a search that is stopped ends at once', async () => {
  const { store, large } = await filledStore(
    10_000,
    `'w' || (n * 7919 % 20011) || ' 東' || char(0x4e00 + n)`,
  );
  expect((await search(store, large, '東')).items).toHaveLength(1);
  const stop = new AbortController();
  const stopped = search(store, large, 'w*', stop.signal);
  const waiting = search(store, large, 'w1*', stop.signal);
  await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
  await expect(waiting).rejects.toThrow('stopped');
  expect((await search(store, large, 'w7919')).items).toHaveLength(1);
  const last = search(store, large, 'w*');
  await eventLoopTurned();
  const outcome = Promise.allSettled([last]);
  await store.close();
  expect((await outcome)[0]).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
});

it('the store’s processes keep this one alive only while it waits for their end', async () => {
  const { store, small } = await filledStore(1, `'said'`);
  await search(store, small, 'said');
  const waitsForChildren = () => process.getActiveResourcesInfo().includes('ProcessWrap');
  // On a busy machine the search was slow, and its process is ended first.
  await expect.poll(waitsForChildren).toBe(false);
  const closing = store.close();
  expect(waitsForChildren()).toBe(true);
  await closing;
});

// Under a low priority of the tests themselves, no priority is seen to be lowered.
it.runIf(process.platform === 'linux' && getPriority() < 10)(
  'a search whose process the system has ended can be tried again',
  async () => {
    const { store, large } = await filledStore(1, `'said'`);
    await search(store, large, 'said');
    const all = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
    // A process whose first search was slow has the lowered priority already, and ends.
    const children = all.filter((pid) => getPriority(Number(pid)) !== 10);
    // A suspended process answers nothing before it is ended.
    for (const pid of children) process.kill(Number(pid), 'SIGSTOP');
    const ended = search(store, large, 'said');
    ended.catch(() => {});
    // The priority of a process is lowered when its read is slow: the read has begun.
    const isReading = () => children.some((pid) => getPriority(Number(pid)) === 10);
    await expect.poll(isReading).toBe(true);
    for (const pid of children) process.kill(Number(pid), 'SIGKILL');
    await expect(ended).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 2 });
    // The end of the spare process may be noticed later than that of the searching one.
    const found = () => search(store, large, 'said').then(({ items }) => items.length);
    await expect.poll(() => found().catch(() => 0)).toBe(1);
  },
);

it('without the program of its processes, which an upgrade may have moved, a store reads in its own process', async () => {
  const gone = new URL('gone.cjs', workerFile);
  const { store } = await openTestStore({
    ...storeOptions(temporaryDirectory()),
    processes: (place) => new StoreProcesses(gone, place),
  });
  const project = await newProject(store);
  await store.beginTurn(project, turnStart({ content: 'needle' }));
  expect((await search(store, project, 'needle')).items).toHaveLength(1);
  const { items } = await store.listSessions(project, everySession({ titleMatch: 'no such title' }));
  expect(items).toEqual([]);
});
