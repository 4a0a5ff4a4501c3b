// The ordering of sessions in all backends: pins, the archive and tags, singly and in batches, and the conditions of lists and searches.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import { noOrdering } from '../../../src/service/session.ts';
import { failureOf, say } from '../../support/calls.ts';
import { create, emptyRecord, everySession, type GivenService } from './service-fixture.ts';

export function describeOrdering(given: GivenService): void {
  describe('the ordering of sessions', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });
    const get = async (id: string) => (await backend.service.getSession(first, id)).data;
    const list = async (conditions: object) => {
      const { data } = await backend.archive.listSessions(first, { ...everySession, ...conditions });
      return data.items.map(({ session_id }) => session_id);
    };

    it('is empty for a new session, changes with its other fields, and is no activity', async () => {
      const { session_id: id } = await create(backend, first, 'one');
      const before = await get(id);
      expect(before).toMatchObject(noOrdering);
      const ordering = { pinned: true, archived: true, tags: ['draft', 'work'] };
      const given = { ...ordering, tags: ['work', 'draft', 'work'] };
      const { data } = await backend.archive.changeSession(first, id, given);
      expect(data).toEqual({ ...before, ...ordering });
      expect(await get(id)).toEqual(data);
      expect((await backend.archive.changeSession(first, id, { archived: false })).data).toEqual({
        ...{ ...before, ...ordering, archived: false },
      });
    });

    it('has each tag in one form and order, however it was typed or imported', async () => {
      const [composed, typed] = ['caf\u00e9', 'cafe\u0301'];
      const tags = ['work', typed, 'draft', composed];
      const session = { ...emptyRecord.session, tags };
      const { data: imported } = await backend.archive.importSession(first, { ...emptyRecord, session });
      const id = imported.session_id;
      expect(imported.tags).toEqual([composed, 'draft', 'work']);
      expect((await backend.archive.importSession(first, { ...emptyRecord, session })).data).toEqual(
        imported,
      );
      expect(await list({ tag: typed })).toEqual([id]);
      await backend.archive.tagSessions(first, [id], { add: [], remove: [typed] });
      expect((await get(id)).tags).toEqual(['draft', 'work']);
      const both = { add: [typed], remove: [composed] };
      expect(await failureOf(backend.archive.tagSessions(first, [id], both))).toMatchObject({
        code: 'INVALID_REQUEST',
      });
      await backend.archive.changeSession(first, id, { tags: [typed, composed] });
      expect((await get(id)).tags).toEqual([composed]);
    });

    it('changes in batches, with a result for each id in order, and again without harm', async () => {
      const { session_id: one } = await create(backend, first);
      const { session_id: gone } = await create(backend, first);
      const { session_id: foreign } = await create(backend, second);
      await backend.service.deleteSession(first, gone);
      const ids = [one, gone, foreign, 'ses_none'];
      const results = (status: string, ...changed: string[]) => [
        { session_id: one, status, changed },
        ...ids.slice(1).map((session_id) => ({ session_id, status: 'not_found', changed: [] })),
      ];
      const { archive } = backend;
      const call = { ...first, idempotencyKey: null };
      expect((await archive.pinSessions(call, ids, true)).data.items).toEqual(results('pinned', 'pinned'));
      expect((await archive.pinSessions(call, ids, true)).data.items).toEqual(results('pinned'));
      expect((await archive.pinSessions(call, ids, false)).data.items).toEqual(results('unpinned', 'pinned'));
      expect((await archive.archiveSessions(call, ids, true)).data.items).toEqual(
        results('archived', 'archived'),
      );
      expect((await archive.archiveSessions(call, ids, false)).data.items).toEqual(
        results('unarchived', 'archived'),
      );
      const tag = async (add: string[], remove: string[]) =>
        (await archive.tagSessions(call, ids, { add, remove })).data.items;
      expect(await tag(['b', 'a'], [])).toEqual(results('tagged', 'a', 'b'));
      expect(await tag(['c', 'a'], ['b', 'x'])).toEqual(results('tagged', 'b', 'c'));
      expect(await get(one)).toMatchObject({ ...noOrdering, tags: ['a', 'c'] });
      expect(await backend.service.getSession(second, foreign)).toMatchObject({ data: noOrdering });
    });

    it('answers a repeated key with the first result', async () => {
      const { session_id: id } = await create(backend, first);
      const call = { ...first, idempotencyKey: 'archive-1' };
      const archive = async () => (await backend.archive.archiveSessions(call, [id], true)).data.items;
      const result = [{ session_id: id, status: 'archived', changed: ['archived'] }];
      expect(await archive()).toEqual(result);
      expect(await archive()).toEqual(result);
    });

    it('decides what lists and searches show', async () => {
      const { session_id: plain } = await create(backend, first, 'plain');
      const { session_id: kept } = await create(backend, first, 'kept');
      await say(backend.service, first, 'a lonely heron', kept);
      await backend.archive.changeSession(first, kept, { archived: true, pinned: true, tags: ['work'] });
      const all = await list({});
      expect([...all].sort()).toEqual([plain, kept].sort());
      expect(await list({ archived: false })).toEqual([plain]);
      expect(await list({ archived: true })).toEqual([kept]);
      expect(await list({ pinned: true })).toEqual([kept]);
      expect(await list({ pinned: false })).toEqual([plain]);
      expect(await list({ tag: 'work', mode: 'echo', title_match: 'k*' })).toEqual([kept]);
      expect(await list({ tag: 'none' })).toEqual([]);
      const found = async (conditions: object) => {
        const request = { query: 'heron', limit: 5, cursor: null, ...conditions };
        return (await backend.archive.searchSessions(first, request)).data.items.length;
      };
      expect(await found({})).toBe(1);
      expect(await found({ archived: true, tag: 'work', pinned: true, mode: 'echo' })).toBe(1);
      expect(await found({ archived: false })).toBe(0);
      expect(await found({ title_match: 'p*' })).toBe(0);
      await backend.service.deleteSession(first, kept);
      expect(await list({ deleted: true })).toEqual([kept]);
      expect(await list({ deleted: true, archived: false })).toEqual([]);
      // It is read and continued as ever.
      await backend.archive.restoreSession(first, kept);
      await say(backend.service, first, 'again', kept);
      expect(await get(kept)).toMatchObject({ archived: true, message_count: 4 });
    });

    it.each([
      ['an empty tag', { tags: [''] }, 'tags[0]'],
      ['a tag with a space', { tags: ['ok', 'a b'] }, 'tags[1]'],
      ['a tag with a comma', { tags: ['a,b'] }, 'tags[0]'],
      ['a tag with a sign before it', { tags: ['+a'] }, 'tags[0]'],
      ['a long tag', { tags: ['x'.repeat(65)] }, 'tags[0]'],
      ['too many tags', { tags: Array.from({ length: 33 }, (_, index) => `t${index}`) }, 'tags'],
    ])('refuses %s, and names its place', async (_, changes, field) => {
      const { session_id: id } = await create(backend, first);
      const refused = await failureOf(backend.archive.changeSession(first, id, changes));
      expect(refused).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field }] });
      expect(await get(id)).toMatchObject(noOrdering);
    });

    it('refuses a batch that changes nothing, or contradicts itself', async () => {
      const { session_id: id } = await create(backend, first);
      const refused = (add: string[], remove: string[]) =>
        failureOf(backend.archive.tagSessions(first, [id], { add, remove }));
      expect(await refused([], [])).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'add' }] });
      expect(await refused(['b', 'a'], ['a'])).toMatchObject({ details: [{ field: 'add[1]' }] });
      expect(await failureOf(backend.archive.pinSessions(first, [], true))).toMatchObject({
        ...{ code: 'INVALID_REQUEST', details: [{ field: 'session_ids' }] },
      });
    });
  });
}
