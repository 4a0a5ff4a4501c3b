// A filter over many sessions is read in steps: other calls run in between, and the page shows one state of the store.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Session } from '../../../src/service/session.ts';
import type { Rows, SessionPlace } from '../../../src/store/session-filters.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';
import { storeOptions } from '../../support/store-options.ts';
import { fillStore } from '../../support/stored-sessions.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { openTestStore } from '../../support/test-store.ts';
import { everySession, newProject, newSession, placeAfter, type SampleFilter } from '../store-samples.ts';

const count = 15_000;

/** A store with many sessions in its first project, of which `title 0` is the oldest, and one session in its second project. */
async function largeStore() {
  const directory = temporaryDirectory();
  const { store: made } = await openSqliteStore(storeOptions(directory));
  const [large, small] = [await newProject(made), await newProject(made)];
  const session = await newSession(made, small);
  await made.close();
  const ids = fillStore(join(directory, 'parley.db'), count);
  const { store } = await openTestStore(storeOptions(directory));
  const list = (filter: SampleFilter) => store.listSessions(large, everySession(filter));
  return { store, large, small, session, ids, list };
}

it('while filters read many sessions, reads and writes of other calls are answered', async () => {
  const { store, small, session, list } = await largeStore();
  let ended = 0;
  const filters = Array.from({ length: 6 }, () =>
    list({ titleMatch: 'nothing*' }).then((page) => {
      ended += 1;
      return page;
    }),
  );
  for (let read = 0; read < 10; read += 1) {
    expect(await store.findSession(small, session)).not.toBeNull();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await store.changeSession(small, session, { title: 'new' })).not.toBeNull();
  expect(ended).toBe(0);
  // A read of another project does not wait for the earlier ones.
  const one = await store.listSessions(small, everySession({ titleMatch: 'n*' }));
  expect(one.items.map(({ title }) => title)).toEqual(['new']);
  expect(ended).toBe(0);
  expect(await Promise.all(filters)).toEqual(filters.map(() => ({ items: [], hasMore: false })));
});

it('a filter gives all sessions that pass it, page by page, in each order', async () => {
  const { list } = await largeStore();
  const matching = Array.from({ length: count }, (_, index) => `title ${index}`).filter((title) =>
    /^title .*99.$/.test(title),
  );
  for (const [sort, order] of [
    ['updated', 'desc'],
    ['updated', 'asc'],
    ['created', 'desc'],
    ['created', 'asc'],
  ] as const) {
    const titles: (string | null)[] = [];
    let after: SessionPlace | null = null;
    do {
      const page: Rows<Session> = await list({ titleMatch: 'title *99?', sort, order, limit: 70, after });
      titles.push(...page.items.map(({ title }) => title));
      after = page.hasMore ? placeAfter(page.items.at(-1), { sort, order }) : null;
    } while (after !== null);
    expect(titles).toEqual(order === 'asc' ? matching : matching.toReversed());
  }
});

it('a page shows the state at its own moment: a session that is active meanwhile is in it once, unchanged', async () => {
  const { store, large, ids, list } = await largeStore();
  const first = ids[0] as string;
  const before = await store.findSession(large, first);
  // The first and the last sessions pass, and not more than fit on a page by their size.
  const passes = (_: unknown, index: number) => /^[01]/.test(String(index));
  const listed = list({ titleMatch: 'title [01]*', order: 'asc', limit: count });
  // The filter has begun, and is far from its end.
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await store.changeSession(large, ids.at(-1) as string, { title: 'renamed' });
  await store.deleteSession(large, ids[count - 2] as string, Date.now());
  const { items } = await listed;
  expect(items).toHaveLength(ids.filter(passes).length);
  expect(items[0]).toEqual(before);
  expect(items.at(-1)?.title).toBe(`title ${count - 1}`);
  expect((await list({ titleMatch: 'renamed' })).items).toHaveLength(1);
});

it('closing a store ends its running reads, which report that it is closed', async () => {
  const { store, list } = await largeStore();
  const filters = Array.from({ length: 4 }, () => list({ titleMatch: 'nothing*' }));
  await new Promise((resolve) => setImmediate(resolve));
  const ended = Promise.allSettled(filters);
  await store.close();
  for (const outcome of await ended) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
  }
});
