// The behaviour of every store with the ordering of sessions: pinned, archived, and tags.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../src/service/limits.ts';
import type { Session } from '../../src/service/session.ts';
import type { OrderChange } from '../../src/store/order-change.ts';
import type { SessionFilter, SessionPlace } from '../../src/store/session-filters.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { runs } from '../support/runs.ts';
import {
  anySessions,
  bareSession,
  everySession,
  newId,
  newProject,
  newSession,
  once,
  placeAfter,
  recordOf,
  searchFilter,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';

async function order(store: SessionStore, project: string, ids: readonly string[], change: OrderChange) {
  const result = await store.orderSessions(project, ids, change, 'done', null);
  return result.kind === 'done' ? result.value : result.kind;
}

const tag = (add: readonly string[], remove: readonly string[] = []): OrderChange => ({
  tags: { add, remove },
});

/** The sessions on all pages of three items. */
async function listed(store: SessionStore, project: string, filter: Partial<SessionFilter>) {
  const found: Session[] = [];
  const request = { ...everySession({ limit: 3 }), ...filter };
  for (let after: SessionPlace | null = null; ; ) {
    const { items, hasMore } = await store.listSessions(project, { ...request, after });
    found.push(...items);
    if (!hasMore) return found;
    expect(items).toHaveLength(3);
    after = placeAfter(items.at(-1), request);
  }
}

export function describeOrdering(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: ordering`, () => {
    it('says for each id what a change has changed, and is no activity', async () => {
      const store = await open();
      const project = await newProject(store);
      const [one, two, gone] = [
        await newSession(store, project),
        await newSession(store, project),
        await newSession(store, project),
      ];
      const foreign = await newSession(store, await newProject(store));
      await store.deleteSession(project, gone, startOfTime + 5);
      const none = (session_id: string) => ({ session_id, status: 'not_found', changed: [] });
      const done = (session_id: string, ...changed: string[]) => ({ session_id, status: 'done', changed });
      expect(await order(store, project, [one, 'ses_none', gone, foreign, one], { pinned: true })).toEqual([
        ...[done(one, 'pinned'), none('ses_none'), none(gone), none(foreign), done(one)],
      ]);
      expect(await order(store, project, [two, one], { pinned: true })).toEqual([
        done(two, 'pinned'),
        done(one),
      ]);
      expect(await order(store, project, [two], { pinned: false })).toEqual([done(two, 'pinned')]);
      expect(await order(store, project, [one], { archived: true })).toEqual([done(one, 'archived')]);
      expect(await order(store, project, [one], tag(['work', 'älter', '😀', '\ufb01n']))).toEqual([
        done(one, 'work', 'älter', '\ufb01n', '😀'),
      ]);
      expect(await order(store, project, [one, two], tag(['draft', 'work'], ['älter', 'none']))).toEqual([
        ...[done(one, 'draft', 'älter'), done(two, 'draft', 'work')],
      ]);
      const before = await store.findSession(project, one);
      expect(before).toMatchObject({
        ...{ pinned: true, archived: true, tags: ['draft', 'work', '\ufb01n', '😀'] },
        updated_at: before?.created_at,
      });
      expect(await store.findSession(project, two)).toMatchObject({
        ...{ pinned: false, archived: false, tags: ['draft', 'work'] },
      });
    });

    it('gives the first result again for a repeated key', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      const archive = () => store.orderSessions(project, [id], { archived: true }, 'archived', once('a'));
      const first = { kind: 'done', value: [{ session_id: id, status: 'archived', changed: ['archived'] }] };
      expect(await archive()).toEqual(first);
      await order(store, project, [id], { archived: false });
      expect(await archive()).toEqual(first);
      expect(await store.findSession(project, id)).toMatchObject({ archived: false });
      expect(
        await store.orderSessions(project, [id], { archived: true }, 'archived', once('a', 'other')),
      ).toEqual({ kind: 'mismatch' });
    });

    it('changes a session together with its title, and replaces its tags', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      const changed = await store.changeSession(project, id, {
        ...{ title: 'New', pinned: true, tags: ['b', 'a', 'b'] },
      });
      expect(changed).toMatchObject({ title: 'New', pinned: true, archived: false, tags: ['a', 'b'] });
      expect(await store.changeSession(project, id, { tags: ['c'] })).toMatchObject({
        title: 'New',
        tags: ['c'],
      });
      const tagged = async (name: string) =>
        (await listed(store, project, { tag: name })).map(({ session_id }) => session_id);
      expect(await tagged('a')).toEqual([]);
      expect(await tagged('c')).toEqual([id]);
      expect(await store.changeSession(project, id, { tags: [] })).toMatchObject({ tags: [] });
      expect(await tagged('c')).toEqual([]);
      expect(await store.changeSession(project, 'ses_none', { pinned: true })).toBeNull();
      expect(await store.changeSession(await newProject(store), id, { pinned: true })).toBeNull();
    });

    it('adds no tag to a session that would have too many, and tags the others', async () => {
      const store = await open();
      const project = await newProject(store);
      const full = await newSession(store, project);
      const other = await newSession(store, project);
      const many = Array.from({ length: defaultLimits.tags }, (_, index) => `tag${index + 10}`);
      await order(store, project, [full], tag(many));
      expect(await order(store, project, [full, other], tag(['more']))).toEqual([
        { session_id: full, status: 'too_many_tags', changed: [] },
        { session_id: other, status: 'done', changed: ['more'] },
      ]);
      expect((await store.findSession(project, full))?.tags).toEqual(many);
      expect(await order(store, project, [full], tag(['more'], ['tag10']))).toMatchObject([
        { status: 'done' },
      ]);
    });

    it('lists by all conditions together, page by page, as the sessions say it', async () => {
      const store = await open();
      const flag = fc.constantFrom(null, true, false);
      const made = fc.record({
        ...{ pinned: fc.boolean(), archived: fc.boolean(), deleted: fc.boolean() },
        tags: fc.subarray(['a', 'b', 'c']),
        mode: fc.constantFrom('echo', 'gpt', null),
        user: fc.constantFrom(null, null, 'Jane Doe', 'jane doe'),
        time: fc.nat(4),
        title: fc.constantFrom('one', 'two', null),
      });
      const condition = fc.record({
        ...{ pinned: flag, archived: flag, deleted: fc.boolean() },
        tag: fc.constantFrom(null, 'a', 'b', 'none'),
        mode: fc.constantFrom(null, 'echo', 'gpt'),
        user: fc.constantFrom(null, null, 'Jane Doe', 'nobody'),
        updatedBefore: fc.constantFrom(null, startOfTime + 3),
        sort: fc.constantFrom('updated' as const, 'created' as const),
        order: fc.constantFrom('desc' as const, 'asc' as const),
      });
      const conditions = fc.array(condition, { minLength: 12, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(fc.array(made, { maxLength: 14 }), conditions, async (sessions, filters) => {
          const project = await newProject(store);
          const rows = await Promise.all(
            sessions.map(async ({ mode, time, title, deleted, ...ordering }) => {
              const id = newId('ses');
              const record = recordOf(id, mode === null ? [] : ['hi', 'you'], title);
              const now = new Date(startOfTime + time).toISOString();
              const messages = record.messages.map((one) => ({ ...one, mode: mode ?? '', created_at: now }));
              const session = { ...record.session, ...ordering, mode, created_at: now, updated_at: now };
              await store.importSession(project, { session, messages }, null);
              if (deleted) await store.deleteSession(project, id, startOfTime + 9);
              return { id, mode, time, deleted, ...ordering };
            }),
          );
          for (const filter of filters) {
            const { updatedBefore, tag: wanted } = filter;
            const expected = rows
              .filter(
                (row) =>
                  row.deleted === filter.deleted &&
                  (filter.pinned ?? row.pinned) === row.pinned &&
                  (filter.archived ?? row.archived) === row.archived &&
                  (filter.mode ?? row.mode) === row.mode &&
                  (filter.user ?? row.user) === row.user &&
                  (wanted === null || row.tags.includes(wanted)) &&
                  (updatedBefore === null || startOfTime + row.time < updatedBefore),
              )
              .sort((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1))
              .map(({ id }) => id);
            const found = (await listed(store, project, filter)).map(({ session_id }) => session_id);
            expect(found).toEqual(filter.order === 'asc' ? expected : expected.reverse());
          }
        }),
        { numRuns: runs(4, 100) },
      );
    });

    it('searches in the sessions that meet the conditions', async () => {
      const store = await open();
      const project = await newProject(store);
      const make = async (title: string, ordering: object, mode = 'echo') => {
        const record = recordOf(newId('ses'), ['a fox', 'yes'], title);
        const messages = record.messages.map((one) => ({ ...one, mode }));
        await store.importSession(
          project,
          { session: { ...record.session, ...ordering, mode }, messages },
          null,
        );
      };
      await make('plain', {});
      await make('pinned', { pinned: true }, 'gpt');
      await make('archived', { archived: true, tags: ['work'] });
      const found = async (sessions: Partial<typeof anySessions>) => {
        const filter = searchFilter('fox', { sessions: { ...anySessions, ...sessions } });
        const { items } = await store.searchSessions(project, filter, new AbortController().signal);
        return items.map(({ session }) => session.title).sort();
      };
      // The first search reads messages that are in no index yet.
      for (let again = 0; again < 2; again += 1) {
        expect(await found({})).toEqual(['archived', 'pinned', 'plain']);
        expect(await found({ archived: false })).toEqual(['pinned', 'plain']);
        expect(await found({ tag: 'work' })).toEqual(['archived']);
        expect(await found({ pinned: true })).toEqual(['pinned']);
        expect(await found({ mode: 'gpt' })).toEqual(['pinned']);
        expect(await found({ updatedBefore: startOfTime })).toEqual([]);
      }
    });

    it('comes with an import, stays over a deletion, is not compared, and is not copied by a fork', async () => {
      const store = await open();
      const project = await newProject(store);
      const record = recordOf(newId('ses'), ['hi', 'you']);
      const ordering = { pinned: true, archived: true, tags: ['a', 'b'] };
      const given = { ...record, session: { ...record.session, ...ordering } };
      const { session_id } = record.session;
      await store.importSession(project, given, null);
      expect(await listed(store, project, { tag: 'b' })).toEqual([given.session]);
      await store.deleteSession(project, session_id, startOfTime + 9);
      expect(await listed(store, project, { tag: 'b' })).toEqual([]);
      expect(await listed(store, project, { tag: 'b', deleted: true })).toEqual([given.session]);
      expect(await store.restoreSession(project, session_id, null)).toMatchObject({ value: ordering });
      expect(await store.importSession(project, record, null)).toMatchObject({
        kind: 'done',
        value: ordering,
      });
      const newOne = { session_id: newId('ses'), title: undefined };
      const fork = {
        session_id,
        newSession: newOne,
        copy_id_prefix: newId('msg'),
        through: null,
        now: startOfTime,
      };
      expect(await store.forkSession(project, fork, null)).toMatchObject({
        value: { pinned: false, archived: false, tags: [] },
      });
    });

    it('lets an archived session run its turns as ever', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      await order(store, project, [id], { archived: true });
      const begun = await store.beginTurn(project, turnStart({ session_id: id, now: startOfTime + 1 }));
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await store.endTurn(project, begun.turn, turnReply());
      const found = await listed(store, project, { archived: true });
      expect(found).toMatchObject([{ ...bareSession, session_id: id, archived: true, mode: 'echo' }]);
      expect(found[0]?.message_count).toBe(2);
    });

    it('is erased by a purge', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      await order(store, project, [id], tag(['secret']));
      await store.deleteSession(project, id, startOfTime);
      const filter = { projectId: project, deletedBefore: startOfTime + 1 };
      expect(await store.purgeSessions(filter, { expected: 1, keptSince: 0 })).toMatchObject({
        kind: 'purged',
      });
      expect(await listed(store, project, { tag: 'secret', deleted: true })).toEqual([]);
    });
  });
}
