// The listings of every store, page by page.
import { describe, expect, it } from 'vitest';
import type { SessionPlace } from '../../src/store/session-filters.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import {
  everySession,
  firstPage,
  newProject,
  newSession,
  placeAfter,
  type SampleFilter,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';

const orders = (['updated', 'created'] as const).flatMap((sort) =>
  (['desc', 'asc'] as const).map((order) => ({ sort, order })),
);

/** The ids on all pages of two items. Each page but the last is full. */
async function allPages(
  store: SessionStore,
  project: string,
  filter: SampleFilter,
): Promise<readonly string[]> {
  const shown: string[] = [];
  const request = everySession({ ...filter, limit: 2 });
  for (let after: SessionPlace | null = null; ; ) {
    const { items, hasMore } = await store.listSessions(project, { ...request, after });
    shown.push(...items.map(({ session_id }) => session_id));
    if (!hasMore) return shown;
    expect(items).toHaveLength(2);
    after = placeAfter(items.at(-1), request);
  }
}

export function describeListings(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: listings`, () => {
    it('give sessions by last activity, page by page, each once', async () => {
      const store = await open();
      const project = await newProject(store);
      const ids: string[] = [];
      // Three sessions share each time, so pages end inside and between these groups.
      for (let number = 0; number < 9; number += 1) {
        ids.push(await newSession(store, project, { now: startOfTime + Math.floor(number / 3) }));
      }
      const shown = await allPages(store, project, {});
      const byTime = [ids.slice(6), ids.slice(3, 6), ids.slice(0, 3)];
      expect(shown).toEqual(byTime.flatMap((sameTime) => sameTime.sort().reverse()));
    });

    it.each(orders)('give sessions with times before 1970 by $sort, $order, like all others', async (way) => {
      const store = await open();
      const project = await newProject(store);
      const ids: string[] = [];
      for (const now of [-3000, -2000, -1000, 0, 1000]) ids.push(await newSession(store, project, { now }));
      const expected = way.order === 'asc' ? ids : ids.toReversed();
      expect(await allPages(store, project, way)).toEqual(expected);
      expect(await allPages(store, project, { ...way, updatedBefore: 0 })).toEqual(
        expected.filter((id) => ids.indexOf(id) < 3),
      );
    });

    it.each(orders)('give sessions by $sort, $order, page by page, active or deleted', async (way) => {
      const store = await open();
      const project = await newProject(store);
      const ids: string[] = [];
      // Three sessions share each creation time. Then their activity reverses the order of the times, and again three share each time.
      for (let number = 0; number < 9; number += 1) {
        ids.push(await newSession(store, project, { now: startOfTime + Math.floor(number / 3) }));
      }
      for (const [number, session_id] of ids.entries()) {
        await store.beginTurn(project, turnStart({ session_id, now: startOfTime + 9 - (number % 3) }));
      }
      const timeOf = (id: string) => {
        const number = ids.indexOf(id);
        return way.sort === 'created' ? Math.floor(number / 3) : 9 - (number % 3);
      };
      const upwards = [...ids].sort((one, other) => timeOf(one) - timeOf(other) || (one < other ? -1 : 1));
      const expected = way.order === 'asc' ? upwards : upwards.reverse();
      expect(await allPages(store, project, way)).toEqual(expected);
      const gone = ids.filter((_, number) => number % 2 === 0);
      await store.deleteSessions(project, gone, startOfTime + 20, null);
      expect(await allPages(store, project, way)).toEqual(expected.filter((id) => !gone.includes(id)));
      expect(await allPages(store, project, { ...way, deleted: true })).toEqual(
        expected.filter((id) => gone.includes(id)),
      );
    });

    it.each(orders)('combine times of activity, a title and a place by $sort, $order', async (way) => {
      const store = await open();
      const project = await newProject(store);
      const ids: string[] = [];
      for (let number = 0; number < 8; number += 1) {
        const title = number % 4 === 3 ? 'other' : 'this';
        ids.push(await newSession(store, project, { title, now: startOfTime + number }));
      }
      // A session that was created later was active earlier.
      for (const [number, session_id] of ids.entries()) {
        await store.beginTurn(project, turnStart({ session_id, now: startOfTime + 20 - number }));
      }
      const from = (after: number, before: number) => ({
        updatedAfter: startOfTime + after,
        updatedBefore: startOfTime + before,
        titleMatch: 'th*',
      });
      const byCreation = (way.sort === 'created') === (way.order === 'asc');
      const inOrder = (...numbers: number[]) =>
        (byCreation ? numbers : numbers.reverse()).map((number) => ids[number]);
      expect(await allPages(store, project, { ...way, ...from(14, 19) })).toEqual(inOrder(2, 4, 5, 6));
      expect(await allPages(store, project, { ...way, ...from(20, 21) })).toEqual(inOrder(0));
      expect(await allPages(store, project, { ...way, ...from(0, 13) })).toEqual([]);
      // This session was created before that time but active after it, so it is not listed.
      expect(await allPages(store, project, { ...way, ...from(0, 8) })).toEqual([]);
    });

    it('report no next page after a last page that is full', async () => {
      const store = await open();
      const project = await newProject(store);
      await newSession(store, project);
      await newSession(store, project);
      const page = await store.listSessions(project, everySession({ limit: 2 }));
      expect(page.items).toHaveLength(2);
      expect(page.hasMore).toBe(false);
    });

    it('move a session to the front with each message', async () => {
      const store = await open();
      const project = await newProject(store);
      const old = await newSession(store, project, { now: startOfTime });
      const young = await newSession(store, project, { now: startOfTime + 1 });
      await store.beginTurn(project, turnStart({ session_id: old, now: startOfTime + 2 }));
      const { items } = await store.listSessions(project, everySession());
      expect(items.map((session) => session.session_id)).toEqual([old, young]);
    });

    it('show deleted sessions instead of active ones when asked to', async () => {
      const store = await open();
      const project = await newProject(store);
      const active = await newSession(store, project);
      const deleted = await newSession(store, project);
      await store.deleteSession(project, deleted, startOfTime + 9);
      const list = async (which: boolean) =>
        (await store.listSessions(project, everySession({ deleted: which }))).items.map((s) => s.session_id);
      expect(await list(false)).toEqual([active]);
      expect(await list(true)).toEqual([deleted]);
    });

    it('take a glob over the whole title, and times: before is strict, after is not', async () => {
      const store = await open();
      const project = await newProject(store);
      const titles = ['Alpha one', 'alpha two', 'Beta one', null];
      for (const [number, title] of titles.entries()) {
        await newSession(store, project, { title, now: startOfTime + number });
      }
      const list = async (filter: Parameters<typeof everySession>[0]) =>
        (await store.listSessions(project, everySession(filter))).items.map((session) => session.title);
      expect(await list({ titleMatch: 'Alpha*' })).toEqual(['Alpha one']);
      expect(await list({ titleMatch: '* one' })).toEqual(['Beta one', 'Alpha one']);
      expect(await list({ titleMatch: '[Aa]lpha ???' })).toEqual(['alpha two', 'Alpha one']);
      expect(await list({ titleMatch: 'one' })).toEqual([]);
      expect(await list({ updatedBefore: startOfTime + 1 })).toEqual(['Alpha one']);
      expect(await list({ updatedAfter: startOfTime + 2 })).toEqual([null, 'Beta one']);
      expect(await list({ updatedAfter: startOfTime + 1, updatedBefore: startOfTime + 2 })).toEqual([
        'alpha two',
      ]);
    });

    it('take the end of an id, compared exactly', async () => {
      const store = await open();
      const project = await newProject(store);
      const ids = [await newSession(store, project), await newSession(store, project)];
      const list = async (filter: SampleFilter) =>
        (await store.listSessions(project, everySession(filter))).items.map(({ session_id }) => session_id);
      for (const id of ids) {
        for (const length of [8, id.length])
          expect(await list({ idSuffix: id.slice(-length) })).toEqual([id]);
        expect(await list({ idSuffix: `x${id}` })).toEqual([]);
        expect(await list({ idSuffix: id.slice(-8).replace(/.$/, '_') })).toEqual([]);
        expect(await list({ idSuffix: id.slice(-8), deleted: true })).toEqual([]);
      }
    });

    it('combine a place and a time to the narrower of both', async () => {
      const store = await open();
      const project = await newProject(store);
      for (let number = 0; number < 5; number += 1) {
        await newSession(store, project, { title: `${number}`, now: startOfTime + number });
      }
      const { items } = await store.listSessions(project, everySession({ limit: 2 }));
      const after = placeAfter(items.at(-1));
      const list = async (updatedBefore: number) =>
        (await store.listSessions(project, everySession({ after, updatedBefore }))).items.map((s) => s.title);
      expect(await list(startOfTime + 5)).toEqual(['2', '1', '0']);
      expect(await list(startOfTime + 3)).toEqual(['2', '1', '0']);
      expect(await list(startOfTime + 1)).toEqual(['0']);
    });

    it('give messages by position, page by page', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project);
      for (const content of ['a', 'b', 'c']) {
        const begun = await store.beginTurn(project, turnStart({ session_id, content }));
        if (begun.kind !== 'begun') throw new Error(begun.kind);
        await store.endTurn(project, begun.turn, turnReply({ content: `re ${content}` }));
      }
      const first = await store.listMessages(project, session_id, { limit: 4, after: null });
      expect(first?.items.map((message) => message.content)).toEqual(['a', 're a', 'b', 're b']);
      expect(first?.hasMore).toBe(true);
      const second = await store.listMessages(project, session_id, { limit: 4, after: 3 });
      expect(second?.items.map(({ position, content }) => [position, content])).toEqual([
        [4, 'c'],
        [5, 're c'],
      ]);
      expect(second?.hasMore).toBe(false);
    });

    it('give an empty page, not null, for a session without messages', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      expect(await store.listMessages(project, id, firstPage)).toEqual({ items: [], hasMore: false });
      expect(await store.listMessages(project, 'none', firstPage)).toBeNull();
    });
  });
}
