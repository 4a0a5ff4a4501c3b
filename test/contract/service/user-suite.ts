// The user of a session, in all backends.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import { collect, failureOf, say } from '../../support/calls.ts';
import { create, emptyRecord, everySession, type GivenService } from './service-fixture.ts';

const user = 'Jäne Döe 😀';

export function describeUsers(given: GivenService): void {
  describe('the user of a session', () => {
    let backend: Backend;
    let first: Call;
    beforeEach(() => {
      ({ backend, first } = given());
    });
    const get = async (id: string) => (await backend.service.getSession(first, id)).data;
    const chat = (message: string, more: object, call = first) =>
      collect(backend.service.chat(call, { mode: 'echo', message, session_id: null, ...more }, 'whole'));
    const sessionOf = async (message: string, more: object, call?: Call) => {
      const events = await chat(message, more, call);
      return events.flatMap((one) => (one.event === 'done' ? [one.data.session_id] : []))[0] ?? '';
    };

    it('is that of its creation, and chooses lists and searches', async () => {
      const { data: created } = await backend.service.createSession(first, { title: null, user });
      const own = await sessionOf('a lonely heron', { user });
      const { session_id: plain } = await create(backend, first);
      await say(backend.service, first, 'another heron', plain);
      expect((await get(created.session_id)).user).toBe(user);
      expect(await get(own)).toMatchObject({ user, title: 'a lonely heron' });
      expect((await get(plain)).user).toBeNull();
      const { data: list } = await backend.archive.listSessions(first, { ...everySession, user });
      expect(list.items.map((one) => [one.session_id, one.user])).toEqual([
        ...[own, created.session_id].map((id) => [id, user]),
      ]);
      const narrow = { ...everySession, user, mode: 'echo', title_match: 'a*' };
      expect((await backend.archive.listSessions(first, narrow)).data.items).toHaveLength(1);
      const request = { query: 'heron', limit: 5, cursor: null, user };
      const { data: hits } = await backend.archive.searchSessions(first, request);
      expect(hits.items.map(({ session }) => session.user)).toEqual([user]);
      // No search finds a name.
      const named = { query: 'Jäne', limit: 5, cursor: null };
      expect((await backend.archive.searchSessions(first, named)).data.items).toEqual([]);
    });

    it('stays over a fork and an import, and is told by an export', async () => {
      const session = { ...emptyRecord.session, user };
      await backend.archive.importSession(first, { ...emptyRecord, session });
      const { data: again } = await backend.archive.importSession(first, emptyRecord);
      expect(again.user).toBe(user);
      const own = await sessionOf('hi', { user });
      expect((await backend.archive.forkSession(first, own, {})).data).toMatchObject({ user });
    });

    it('must be named rightly, if at all, to go on with a session', async () => {
      const id = await sessionOf('hi', { user });
      await chat('again', { session_id: id, user });
      await chat('and again', { session_id: id });
      for (const [session_id, other] of [
        [id, 'Bob'],
        [(await create(backend, first)).session_id, user],
      ]) {
        const refused = await failureOf(chat('no', { session_id, user: other }));
        expect(refused).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'user' }] });
        expect(refused.message).not.toContain(user);
      }
      expect(await failureOf(chat('no', { session_id: 'ses_none', user }))).toMatchObject({
        code: 'SESSION_NOT_FOUND',
      });
      expect(await get(id)).toMatchObject({ message_count: 6 });
    });

    it('changes with the other fields of a session, and can be taken away', async () => {
      const { session_id: id } = await create(backend, first, 'one');
      const before = await get(id);
      const { archive } = backend;
      expect((await archive.changeSession(first, id, { user })).data).toEqual({ ...before, user });
      const both = { user: 'other', pinned: true };
      expect((await archive.changeSession(first, id, both)).data).toEqual({ ...before, ...both });
      expect((await archive.changeSession(first, id, { title: 'two' })).data.user).toBe('other');
      const { data: list } = await archive.listSessions(first, { ...everySession, user: 'other' });
      expect(list.items.map(({ session_id }) => session_id)).toEqual([id]);
      expect((await archive.changeSession(first, id, { user: null })).data.user).toBeNull();
      expect(await failureOf(archive.changeSession(first, id, { user: 'a\u200bb' }))).toMatchObject({
        code: 'INVALID_REQUEST',
        details: [{ field: 'user' }],
      });
    });

    it('is part of what an idempotency key repeats', async () => {
      const call = { ...first, idempotencyKey: 'users-1' };
      const id = await sessionOf('hi', { user }, call);
      expect(await sessionOf('hi', { user }, call)).toBe(id);
      expect(await failureOf(chat('hi', {}, call))).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
      const creation = { ...first, idempotencyKey: 'users-2' };
      const { data } = await backend.service.createSession(creation, { title: 'a' });
      expect((await backend.service.createSession(creation, { title: 'a', user: null })).data).toEqual(data);
      expect(await failureOf(backend.service.createSession(creation, { title: 'a', user }))).toMatchObject({
        code: 'IDEMPOTENCY_MISMATCH',
      });
    });

    it.each([
      ['empty', ''],
      ['white space alone', ' '],
      ['white space at an end', 'Jane '],
      ['a line break', 'Jane\nDoe'],
      ['a control character', 'Jane\u0007'],
      ['a character that cannot be seen', 'Jane\u200bDoe'],
      ['a character that turns the text', 'Jane\u202eDoe'],
      ['more than 255 characters', '😀'.repeat(256)],
    ])('is refused if it is or holds %s', async (_, name) => {
      const refused = { code: 'INVALID_REQUEST', details: [{ field: 'user' }] };
      const { service, archive } = backend;
      expect(await failureOf(service.createSession(first, { title: null, user: name }))).toMatchObject(
        refused,
      );
      expect(await failureOf(chat('hi', { user: name }))).toMatchObject(refused);
      expect(await failureOf(archive.listSessions(first, { ...everySession, user: name }))).toMatchObject(
        refused,
      );
      const session = { ...emptyRecord.session, user: name };
      expect(await failureOf(archive.importSession(first, { ...emptyRecord, session }))).toMatchObject({
        ...{ code: 'INVALID_REQUEST', details: [{ field: 'session.user' }] },
      });
    });

    it('has up to 255 characters, however many bytes they take', async () => {
      const longest = '😀'.repeat(255);
      const { data } = await backend.service.createSession(first, { title: null, user: longest });
      expect((await get(data.session_id)).user).toBe(longest);
    });
  });
}
