// The archive: listing, reading back, renaming, and deleting and restoring in batches.
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import type { Session } from '../../../src/service/session.ts';
import type { SessionOrder, SessionQuery } from '../../../src/service/session-archive.ts';
import { failureOf, say } from '../../support/calls.ts';
import { bareSession, create, everySession, type GivenService, messagesOf } from './service-fixture.ts';

const orders: readonly SessionOrder[] = (['updated', 'created'] as const).flatMap((sort) =>
  (['desc', 'asc'] as const).map((order) => ({ sort, order })),
);

export function describeArchive(given: GivenService): void {
  describe('the archive', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });

    it('lists by last activity, the newest first, each session once over all pages', async () => {
      const ids: string[] = [];
      for (let count = 0; count < 7; count++)
        ids.push((await create(backend, first, `s${count}`)).session_id);
      // Of two sessions of one millisecond, the one with the greater id comes first.
      await delay(2);
      await say(backend.service, first, 'again', ids[2] ?? '');
      const seen: Session[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: readonly Session[]; next_cursor: string | null } = (
          await backend.archive.listSessions(first, { ...everySession, limit: 3, cursor })
        ).data;
        seen.push(...page.items);
        cursor = page.next_cursor;
      } while (cursor !== null);
      expect(seen[0]?.session_id).toBe(ids[2]);
      expect(new Set(seen.map(({ session_id }) => session_id))).toEqual(new Set(ids));
      expect(seen).toHaveLength(7);
      const activity = seen.map(({ updated_at }) => updated_at);
      expect(activity).toEqual([...activity].sort().reverse());
    });

    it.each(orders)('lists by $sort, $order, over several pages, active or deleted', async (way) => {
      const minute = (number: number) => new Date(Date.UTC(2024, 4, 1, 12, number)).toISOString();
      // Two sessions share each creation time, and two share each activity time. A session that was created later was active earlier.
      const sessions = [3, 0, 6, 1, 5, 2, 4, 7].map((number) => ({
        session_id: `ses_${way.sort}_${way.order}_${number}`,
        title: null,
        created_at: minute(Math.floor(number / 2)),
        updated_at: minute(30 - Math.floor((number + 1) / 2)),
        message_count: 0,
        ...bareSession,
      }));
      for (const session of sessions) {
        await backend.archive.importSession(first, { session, messages: [] });
      }
      const time = (session: Session) => session[`${way.sort}_at`];
      const upwards = [...sessions].sort((one, other) =>
        `${time(one)} ${one.session_id}` < `${time(other)} ${other.session_id}` ? -1 : 1,
      );
      const expected = way.order === 'asc' ? upwards : upwards.reverse();
      const list = async (deleted: boolean) => {
        const pages: (readonly Session[])[] = [];
        for (let cursor: string | null = null; pages.length === 0 || cursor !== null; ) {
          const query: SessionQuery = { ...everySession, ...way, deleted, limit: 3, cursor };
          const { data } = await backend.archive.listSessions(first, query);
          pages.push(data.items);
          cursor = data.next_cursor;
        }
        return pages;
      };
      expect(await list(false)).toEqual([expected.slice(0, 3), expected.slice(3, 6), expected.slice(6)]);
      expect(await list(true)).toEqual([[]]);
      const gone = sessions.slice(0, 4).map(({ session_id }) => session_id);
      await backend.archive.deleteSessions(first, gone);
      const deleted = expected.filter(({ session_id }) => gone.includes(session_id));
      expect(await list(true)).toEqual([deleted.slice(0, 3), deleted.slice(3)]);
      expect((await list(false)).flat()).toEqual(expected.filter((session) => !deleted.includes(session)));
    });

    it('a listing in the order of creation can be filtered by last activity', async () => {
      const old = await create(backend, first, 'old');
      await create(backend, first, 'young');
      await say(backend.service, first, 'again', old.session_id);
      const { updated_at } = (await backend.service.getSession(first, old.session_id)).data;
      const list = async (query: Partial<SessionQuery>) =>
        (
          await backend.archive.listSessions(first, { ...everySession, sort: 'created', ...query })
        ).data.items.map(({ title }) => title);
      expect(await list({ order: 'asc' })).toEqual(['old', 'young']);
      expect(await list({ order: 'desc' })).toEqual(['young', 'old']);
      expect(await list({ order: 'asc', updated_after: updated_at })).toContain('old');
      expect(await list({ order: 'asc', updated_before: updated_at })).not.toContain('old');
      expect(await list({ updated_before: updated_at })).not.toContain('old');
    });

    it('refuses the cursor of another sort or order', async () => {
      for (let count = 0; count < 2; count++) await create(backend, first);
      for (const given of orders) {
        const query = { ...everySession, ...given, limit: 1 };
        const { next_cursor: cursor } = (await backend.archive.listSessions(first, query)).data;
        for (const order of orders.filter((one) => one !== given)) {
          const error = await failureOf(backend.archive.listSessions(first, { ...query, ...order, cursor }));
          expect([error.code, error.details[0]?.field]).toEqual(['INVALID_REQUEST', 'cursor']);
        }
        expect((await backend.archive.listSessions(first, { ...query, cursor })).data.items).toHaveLength(1);
      }
    });

    it('filters by title and by last activity', async () => {
      const plan = await create(backend, first, 'plan A');
      await create(backend, first, 'note');
      const list = async (query: Partial<SessionQuery>) =>
        (await backend.archive.listSessions(first, { ...everySession, ...query })).data.items.map(
          ({ title }) => title,
        );
      expect(await list({ title_match: 'plan*' })).toEqual(['plan A']);
      expect(await list({ title_match: '%' })).toEqual([]);
      expect(await list({ updated_before: plan.created_at })).toEqual([]);
      expect((await list({ updated_after: plan.created_at })).sort()).toEqual(['note', 'plan A']);
      const error = await failureOf(list({ updated_before: 'yesterday' }));
      expect(error.details[0]?.field).toBe('updated_before');
    });

    it('finds sessions of the project by the end of their id', async () => {
      const one = await create(backend, first, 'one');
      await create(backend, first, 'other');
      const suffix = one.session_id.slice(-8);
      const list = async (call: Call, query: Partial<SessionQuery>) =>
        (await backend.archive.listSessions(call, { ...everySession, ...query })).data.items.map(
          ({ session_id }) => session_id,
        );
      expect(await list(first, { id_suffix: suffix })).toEqual([one.session_id]);
      expect(await list(first, { id_suffix: suffix, title_match: 'other' })).toEqual([]);
      expect(await list(first, { id_suffix: suffix, deleted: true })).toEqual([]);
      expect(await list(first, { id_suffix: `x${suffix.slice(1)}x` })).toEqual([]);
      expect(await list(second, { id_suffix: suffix })).toEqual([]);
      for (const wrong of [suffix.slice(-5), '%%%%%%', 'two words'])
        expect((await failureOf(list(first, { id_suffix: wrong }))).details[0]?.field).toBe('id_suffix');
    });

    it('lists deleted sessions and active sessions separately', async () => {
      const other = await create(backend, first);
      const gone = await create(backend, first);
      await backend.service.deleteSession(first, gone.session_id);
      const ids = async (deleted: boolean) =>
        (await backend.archive.listSessions(first, { ...everySession, deleted })).data.items.map(
          ({ session_id }) => session_id,
        );
      expect(await ids(false)).toEqual([other.session_id]);
      expect(await ids(true)).toEqual([gone.session_id]);
    });

    it('messages are listed in pages by position', async () => {
      const { session_id } = await create(backend, first);
      for (const text of ['a', 'b', 'c']) await say(backend.service, first, text, session_id);
      const one = (await backend.archive.listMessages(first, session_id, { limit: 4, cursor: null })).data;
      expect(one.items.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
      const two = (
        await backend.archive.listMessages(first, session_id, { limit: 4, cursor: one.next_cursor })
      ).data;
      expect(two.items.map(({ position }) => position)).toEqual([4, 5]);
      expect(two.next_cursor).toBeNull();
    });

    it('a page of long messages ends before its limit, and its cursor continues the listing', async () => {
      // Each character takes six bytes as JSON.
      const long = '\u0001'.repeat(300_000);
      const { session_id } = await say(backend.service, first, long);
      await say(backend.service, first, 'b', session_id);
      await say(backend.service, first, long, session_id);
      await say(backend.service, first, 'd', session_id);
      const pages: string[][] = [];
      for (let cursor: string | null = null; pages.length === 0 || cursor !== null; ) {
        const { data, body } = await backend.archive.listMessages(first, session_id, { limit: 200, cursor });
        expect(JSON.stringify(body).length).toBeLessThan(4.1 * 1024 * 1024);
        pages.push(data.items.map(({ content }) => (content === long ? 'long' : content)));
        cursor = data.next_cursor;
      }
      expect(pages).toEqual([
        ['long', 'long', 'b', 'b'],
        ['long', 'long', 'd', 'd'],
      ]);
    });

    it.each([0, -1, 201, 1.5])('a page of %d items is refused', async (limit) => {
      const list = backend.archive.listSessions(first, { ...everySession, limit });
      expect((await failureOf(list)).details[0]?.field).toBe('limit');
    });

    it('a cursor that no listing has returned is refused', async () => {
      const list = backend.archive.listSessions(first, { ...everySession, cursor: 'bogus' });
      expect((await failureOf(list)).code).toBe('INVALID_REQUEST');
    });

    it('renaming changes only the title', async () => {
      const created = await create(backend, first, 'old');
      const { data } = await backend.archive.changeSession(first, created.session_id, { title: 'new' });
      expect(data).toEqual({
        ...{ ...created, title: 'new', updated_at: created.created_at },
        ...bareSession,
      });
      expect(
        (await failureOf(backend.archive.changeSession(first, created.session_id, { title: 'a\nb' }))).code,
      ).toBe('INVALID_REQUEST');
      expect((await backend.service.getSession(first, created.session_id)).data.title).toBe('new');
    });

    it('restoring brings a deleted session back with all its messages', async () => {
      const { session_id } = await say(backend.service, first, 'precious');
      await backend.service.deleteSession(first, session_id);
      const { data } = await backend.archive.restoreSession(first, session_id);
      expect(data).toMatchObject({ session_id, message_count: 2 });
      expect((await messagesOf(backend, first, session_id))[0]?.content).toBe('precious');
      expect((await backend.archive.restoreSession(first, session_id)).data).toEqual(data);
    });

    it('a batch answers per id in the order of the request, and restoring undoes it', async () => {
      const a = (await create(backend, first)).session_id;
      const b = (await create(backend, first)).session_id;
      const theirs = (await create(backend, second)).session_id;
      const ids = [b, 'ses_never', theirs, a, b];
      expect((await backend.archive.deleteSessions(first, ids)).data.items).toEqual([
        { session_id: b, status: 'deleted' },
        { session_id: 'ses_never', status: 'not_found' },
        { session_id: theirs, status: 'not_found' },
        { session_id: a, status: 'deleted' },
        { session_id: b, status: 'not_found' },
      ]);
      const restored = (await backend.archive.restoreSessions(first, [a, b, theirs])).data.items;
      expect(restored.map(({ status }) => status)).toEqual(['restored', 'restored', 'not_found']);
      expect((await backend.service.getSession(first, a)).data.session_id).toBe(a);
      expect((await backend.service.getSession(second, theirs)).data.session_id).toBe(theirs);
    });

    it('a batch of 1,000 ids is accepted; one of no ids or of 1,001 is refused', async () => {
      const ids = Array.from({ length: 1001 }, (_, index) => `ses_${index}`);
      expect((await backend.archive.deleteSessions(first, ids.slice(1))).data.items).toHaveLength(1000);
      for (const wrong of [[], ids]) {
        expect((await failureOf(backend.archive.deleteSessions(first, wrong))).code).toBe('INVALID_REQUEST');
      }
    });
  });
}
