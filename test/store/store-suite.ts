// The behaviour of every store with API keys, single sessions and idempotency keys.
import { describe, expect, it } from 'vitest';
import { noLimits } from '../../src/service/key-limits.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import {
  at,
  bareSession,
  everySession,
  firstPage,
  hashOf,
  newId,
  newKey,
  newProject,
  newSession,
  once,
  searchFilter,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { contents } from './turn-steps.ts';

export function describeStore(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: keys`, () => {
    it('finds the project of a key by its hash', async () => {
      const store = await open();
      const key = newKey({ key_name: 'laptop' });
      const created = await store.createKey(key);
      const { key_id, key_name, project_id, project_name } = key;
      const identity = {
        ...{ key_id, key_name, project_id, project_name, created_at: at(0) },
        ...{ ...noLimits, last_used_at: null },
      };
      expect(created).toEqual({ ...identity, revoked_at: null });
      expect(await store.findKey(key.hash)).toEqual(identity);
      expect(await store.findKey(hashOf('another'))).toBeNull();
    });

    it('binds a second key with the same project name to the existing project', async () => {
      const store = await open();
      const first = await store.createKey(newKey({ project_name: 'work' }));
      const second = await store.createKey(newKey({ project_name: 'work' }));
      expect(second.project_id).toBe(first.project_id);
      expect(second.key_id).not.toBe(first.key_id);
    });

    it('lists all keys, the oldest first, revoked ones included', async () => {
      const store = await open();
      const late = await store.createKey(newKey({ now: startOfTime + 2 }));
      const early = await store.createKey(newKey({ now: startOfTime + 1 }));
      const revoked = await store.revokeKey(early.key_id, startOfTime + 3);
      expect(revoked).toEqual({ ...early, revoked_at: at(3) });
      expect(await store.listKeys()).toEqual([revoked, late]);
    });

    it('finds no project for a revoked key, and keeps the time of the first revocation', async () => {
      const store = await open();
      const key = newKey();
      await store.createKey(key);
      await store.revokeKey(key.key_id, startOfTime + 1);
      expect(await store.findKey(key.hash)).toBeNull();
      expect((await store.revokeKey(key.key_id, startOfTime + 9))?.revoked_at).toBe(at(1));
      expect(await store.revokeKey('key_unknown', startOfTime)).toBeNull();
    });
  });

  describe(`${name}: calls that bring their key`, () => {
    it('succeed with a key of the project, and are refused with a revoked, unknown or other project’s key', async () => {
      const store = await open();
      const key = newKey();
      const other = newKey();
      const { project_id: project } = await store.createKey(key);
      await store.createKey(other);
      const session = await newSession(store, project);
      const create = (session_id: string, keyHash: Uint8Array) =>
        store.createSession(project, { session_id, title: null, now: startOfTime }, null, keyHash);
      const begin = (session_id: string | null, keyHash: Uint8Array) =>
        store.beginTurn(project, turnStart({ session_id, keyHash }));
      const search = (keyHash: Uint8Array) =>
        store.searchSessions(project, searchFilter('hello'), new AbortController().signal, keyHash);
      const remove = (session_id: string, keyHash: Uint8Array) =>
        store.deleteSession(project, session_id, startOfTime, undefined, keyHash);
      const made = newId('ses');
      expect(await store.findSession(project, session, key.hash)).toMatchObject({ session_id: session });
      expect(await create(made, key.hash)).toMatchObject({ kind: 'done', value: { session_id: made } });
      expect(await begin(made, key.hash)).toMatchObject({ kind: 'begun' });
      expect((await search(key.hash)).items).toHaveLength(1);
      expect(await remove(await newSession(store, project), key.hash)).toMatchObject({ deleted_at: at(0) });
      await store.revokeKey(key.key_id, startOfTime);
      for (const hash of [key.hash, hashOf('unknown'), other.hash]) {
        const refused = { code: 'INVALID_API_KEY' };
        await expect(store.findSession(project, session, hash)).rejects.toMatchObject(refused);
        await expect(store.findSession(project, 'none', hash)).rejects.toMatchObject(refused);
        await expect(create(newId('ses'), hash)).rejects.toMatchObject(refused);
        await expect(begin(session, hash)).rejects.toMatchObject(refused);
        await expect(begin(null, hash)).rejects.toMatchObject(refused);
        await expect(begin('none', hash)).rejects.toMatchObject(refused);
        await expect(search(hash)).rejects.toMatchObject(refused);
        await expect(remove(session, hash)).rejects.toMatchObject(refused);
        await expect(remove('none', hash)).rejects.toMatchObject(refused);
      }
      const { items } = await store.listSessions(project, everySession());
      expect(items.map(({ session_id }) => session_id).sort()).toEqual([session, made].sort());
      expect(await contents(store, project, session)).toEqual([]);
    });

    it('return nothing of an earlier use of the idempotency key if their key is refused', async () => {
      const store = await open();
      const key = newKey();
      const { project_id: project } = await store.createKey(key);
      const create = () => {
        const session = { session_id: newId('ses'), title: null, now: startOfTime };
        return store.createSession(project, session, once('made', 'x'), key.hash);
      };
      const begin = () =>
        store.beginTurn(project, turnStart({ idempotencyKey: once('said', 'x'), keyHash: key.hash }));
      await create();
      await begin();
      await store.revokeKey(key.key_id, startOfTime);
      await expect(create()).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
      await expect(begin()).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
    });
  });

  describe(`${name}: sessions`, () => {
    it('stores a new session with its title and no messages', async () => {
      const store = await open();
      const project = await newProject(store);
      const session = { session_id: newId('ses'), title: 'Größe 🙂', now: startOfTime };
      const created = {
        session_id: session.session_id,
        title: 'Größe 🙂',
        created_at: at(0),
        message_count: 0,
      };
      expect(await store.createSession(project, session, null)).toEqual({ kind: 'done', value: created });
      expect(await store.findSession(project, session.session_id)).toEqual({
        ...created,
        ...bareSession,
        updated_at: at(0),
      });
    });

    it('shows a session to no other project, in no operation', async () => {
      const store = await open();
      const mine = await newProject(store);
      const other = await newProject(store);
      const id = await newSession(store, mine);
      const before = await store.findSession(mine, id);
      expect(await store.findSession(other, id)).toBeNull();
      expect(await store.deleteSession(other, id, startOfTime)).toBeNull();
      expect(await store.changeSession(other, id, { title: 'x' })).toBeNull();
      expect(await store.restoreSession(other, id, null)).toEqual({ kind: 'done', value: null });
      expect(await store.listMessages(other, id, firstPage)).toBeNull();
      expect(await store.history(other, id, 10, 10)).toEqual([]);
      expect(await store.holdsAny(other, [id])).toBe(false);
      expect(await store.beginTurn(other, turnStart({ session_id: id }))).toEqual({ kind: 'not_found' });
      expect((await store.listSessions(other, everySession())).items).toEqual([]);
      const items = [{ session_id: id, status: 'not_found' }];
      expect(await store.deleteSessions(other, [id], startOfTime, null)).toEqual({
        kind: 'done',
        value: items,
      });
      expect(await store.restoreSessions(other, [id], null)).toEqual({ kind: 'done', value: items });
      expect(await store.findSession(mine, id)).toEqual(before);
    });

    it('stores one session per project under the same id, and no operation changes another project’s', async () => {
      const store = await open();
      const [mine, other] = [await newProject(store), await newProject(store)];
      const session_id = newId('ses');
      const create = (project: string, title: string) =>
        store.createSession(project, { session_id, title, now: startOfTime }, null);
      await create(mine, 'mine');
      await create(other, 'other');
      const before = await store.findSession(mine, session_id);
      const begun = await store.beginTurn(other, turnStart({ session_id, content: 'theirs' }));
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      await store.endTurn(other, begun.turn, turnReply());
      await store.changeSession(other, session_id, { title: 'renamed' });
      expect((await store.listMessages(other, session_id, firstPage))?.items).toHaveLength(2);
      expect((await store.listMessages(mine, session_id, firstPage))?.items).toEqual([]);
      expect(await store.beginTurn(mine, turnStart({ session_id: 'none' }))).toEqual({ kind: 'not_found' });
      await store.deleteSessions(other, [session_id], startOfTime, null);
      expect(await store.findSession(mine, session_id)).toEqual(before);
      expect((await store.listSessions(mine, everySession())).items).toEqual([before]);
      const purge = { projectId: null, deletedBefore: startOfTime + 1 };
      await store.purgeSessions(purge, { expected: 1, keptSince: 0 });
      expect(await store.restoreSession(other, session_id, null)).toEqual({ kind: 'done', value: null });
      expect(await store.findSession(mine, session_id)).toEqual(before);
    });

    it('finds out whether any of several sessions exists, active or deleted', async () => {
      const store = await open();
      const project = await newProject(store);
      const [active, deleted] = [await newSession(store, project), await newSession(store, project)];
      await store.deleteSession(project, deleted, startOfTime);
      for (const id of [active, deleted])
        expect(await store.holdsAny(project, [newId('ses'), id])).toBe(true);
      for (const ids of [[], [newId('ses')]]) expect(await store.holdsAny(project, ids)).toBe(false);
    });

    it('does not let another project end or renew a turn', async () => {
      const store = await open();
      const mine = await newProject(store);
      const other = await newProject(store);
      const begun = await store.beginTurn(mine, turnStart());
      if (begun.kind !== 'begun') throw new Error(begun.kind);
      expect(await store.endTurn(other, begun.turn, turnReply())).toEqual({ kind: 'not_found' });
      expect(await store.renewTurn(other, begun.turn, 60_000)).toBe(false);
      const { session_id } = begun.turn;
      expect(await store.beginTurn(mine, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
      expect((await store.listMessages(mine, session_id, firstPage))?.items).toHaveLength(1);
    });

    it('hides a deleted session until it is restored', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project, { title: 'kept' });
      const session = await store.findSession(project, id);
      expect(await store.deleteSession(project, id, startOfTime + 5)).toEqual({
        session_id: id,
        deleted_at: at(5),
      });
      expect(await store.findSession(project, id)).toBeNull();
      expect(await store.deleteSession(project, id, startOfTime + 6)).toBeNull();
      expect(await store.changeSession(project, id, { title: 'x' })).toBeNull();
      expect(await store.listMessages(project, id, firstPage)).toBeNull();
      expect(await store.beginTurn(project, turnStart({ session_id: id }))).toEqual({ kind: 'not_found' });
      expect(await store.restoreSession(project, id, null)).toEqual({ kind: 'done', value: session });
      expect(await store.findSession(project, id)).toEqual(session);
    });

    it('returns an active session unchanged when it is restored', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      const session = await store.findSession(project, id);
      expect(await store.restoreSession(project, id, null)).toEqual({ kind: 'done', value: session });
    });

    it('renames a session without counting that as an activity', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project, { title: 'old' });
      const session = await store.findSession(project, id);
      expect(await store.changeSession(project, id, { title: 'new' })).toEqual({ ...session, title: 'new' });
      expect(await store.changeSession(project, id, { title: null })).toEqual({ ...session, title: null });
      expect(await store.findSession(project, id)).toEqual({ ...session, title: null });
    });

    it('deletes many sessions in the given order, and an id that is given twice only once', async () => {
      const store = await open();
      const project = await newProject(store);
      const [a, b] = [await newSession(store, project), await newSession(store, project)];
      expect(await store.deleteSessions(project, [b, 'none', a, b], startOfTime, null)).toEqual({
        kind: 'done',
        value: [
          { session_id: b, status: 'deleted' },
          { session_id: 'none', status: 'not_found' },
          { session_id: a, status: 'deleted' },
          { session_id: b, status: 'not_found' },
        ],
      });
      expect(await store.restoreSessions(project, [a, 'none', a], null)).toEqual({
        kind: 'done',
        value: [
          { session_id: a, status: 'restored' },
          { session_id: 'none', status: 'not_found' },
          { session_id: a, status: 'restored' },
        ],
      });
      expect(await store.findSession(project, a)).not.toBeNull();
      expect(await store.findSession(project, b)).toBeNull();
    });
  });

  describe(`${name}: idempotency keys`, () => {
    it('make a repeated creation happen once, with the same answer', async () => {
      const store = await open();
      const project = await newProject(store);
      const create = (title: string, key: string, request: string) =>
        store.createSession(
          project,
          { session_id: newId('ses'), title, now: startOfTime },
          once(key, request),
        );
      const first = await create('one', 'k', 'request');
      expect(await create('two', 'k', 'request')).toEqual(first);
      expect(await create('three', 'k', 'another request')).toEqual({ kind: 'mismatch' });
      expect((await store.listSessions(project, everySession())).items).toHaveLength(1);
    });

    it('belong to one project', async () => {
      const store = await open();
      const [one, other] = [await newProject(store), await newProject(store)];
      const first = await store.createSession(
        one,
        { session_id: newId('ses'), title: null, now: startOfTime },
        once('k'),
      );
      const second = await store.createSession(
        other,
        { session_id: newId('ses'), title: null, now: startOfTime },
        once('k', 'another request'),
      );
      expect(second).toMatchObject({ kind: 'done' });
      expect(second).not.toEqual(first);
    });

    it('do not count when they are older than the caller keeps them', async () => {
      const store = await open();
      const project = await newProject(store);
      const create = (keptSince: number) =>
        store.createSession(
          project,
          { session_id: newId('ses'), title: null, now: startOfTime },
          { ...once('k'), keptSince },
        );
      const first = await create(0);
      expect(await create(0)).toEqual(first);
      const later = await create(Number.MAX_SAFE_INTEGER);
      expect(later).not.toEqual(first);
      expect((await store.listSessions(project, everySession())).items).toHaveLength(2);
    });

    it('do not count when they are old, however many there are', async () => {
      const store = await open();
      const project = await newProject(store);
      const create = (key: string, keptSince: number) =>
        store.createSession(
          project,
          { session_id: newId('ses'), title: null, now: startOfTime },
          { ...once(key), keptSince },
        );
      const keys = Array.from({ length: 130 }, (_, index) => `k${String(index).padStart(3, '0')}`);
      const first = await Promise.all(keys.map((key) => create(key, 0)));
      for (const index of [129, 0]) {
        const later = await create(keys[index] as string, Number.MAX_SAFE_INTEGER);
        expect(later).toMatchObject({ kind: 'done' });
        expect(later).not.toEqual(first[index]);
      }
    });

    it('make deletions and restorations of many happen once', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      const deleted = await store.deleteSessions(project, [id], startOfTime, once('delete'));
      await store.restoreSession(project, id, null);
      expect(await store.deleteSessions(project, [id], startOfTime, once('delete'))).toEqual(deleted);
      expect(await store.findSession(project, id)).not.toBeNull();

      const restored = await store.restoreSessions(project, [id], once('restore'));
      const one = await store.restoreSession(project, id, once('restore one'));
      await store.deleteSession(project, id, startOfTime);
      expect(await store.restoreSessions(project, [id], once('restore'))).toEqual(restored);
      expect(await store.restoreSession(project, id, once('restore one'))).toEqual(one);
      expect(await store.findSession(project, id)).toBeNull();
    });

    it('of one operation are a mismatch for another operation', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await newSession(store, project);
      await store.deleteSessions(project, [id], startOfTime, once('k', 'delete'));
      expect(await store.restoreSession(project, id, once('k', 'restore'))).toEqual({ kind: 'mismatch' });
      expect(await store.beginTurn(project, turnStart({ idempotencyKey: once('k', 'chat') }))).toEqual({
        kind: 'mismatch',
      });
      expect(await store.findSession(project, id)).toBeNull();
    });
  });

  it(`${name}: finds no session by an id with a NUL character, and changes the others of a batch`, async () => {
    const store = await open();
    const project = await newProject(store);
    const id = await newSession(store, project);
    const other = await newSession(store, project);
    const absent = `${id}\0`;
    expect(await store.findSession(project, absent)).toBeNull();
    expect(await store.listMessages(project, absent, firstPage)).toBeNull();
    expect(await store.changeSession(project, absent, { title: 'new' })).toBeNull();
    expect(await store.deleteSession(project, absent, startOfTime)).toBeNull();
    expect(await store.beginTurn(project, turnStart({ session_id: absent }))).toEqual({ kind: 'not_found' });
    const batch = [id, absent, other];
    expect(await store.deleteSessions(project, batch, startOfTime, null)).toEqual({
      kind: 'done',
      value: [
        { session_id: id, status: 'deleted' },
        { session_id: absent, status: 'not_found' },
        { session_id: other, status: 'deleted' },
      ],
    });
    expect(await store.restoreSessions(project, batch, once('restore'))).toEqual({
      kind: 'done',
      value: [
        { session_id: id, status: 'restored' },
        { session_id: absent, status: 'not_found' },
        { session_id: other, status: 'restored' },
      ],
    });
  });

  it(`${name}: refuses calls once it is closed, and can be closed twice`, async () => {
    const store = await open();
    const project = await newProject(store);
    await store.close();
    await store.close();
    await expect(store.findSession(project, 'any')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(store.deleteSession(project, 'any', startOfTime)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });
}
