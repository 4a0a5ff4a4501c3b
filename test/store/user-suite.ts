// The behaviour of every store with the users of sessions.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import {
  everySession,
  newId,
  newProject,
  newSession,
  recordOf,
  search,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin, beginWithEndedLease } from './turn-steps.ts';

const user = 'Jane Doe';

async function say(
  store: SessionStore,
  project: string,
  content: string,
  of: string | null,
): Promise<string> {
  const newOne = { session_id: newId('ses'), title: null, user: of };
  const turn = await begin(store, project, { content, newSession: newOne });
  await store.endTurn(project, turn, turnReply());
  return turn.session_id;
}

export function describeUsers(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: users`, () => {
    const usersOf = async (store: SessionStore, project: string, ids: readonly string[]) =>
      Promise.all(ids.map(async (id) => (await store.findSession(project, id))?.user));

    it('are kept with a session, however it is made, and a fork has that of its parent', async () => {
      const store = await open();
      const project = await newProject(store);
      const created = newId('ses');
      await store.createSession(project, { session_id: created, title: null, user, now: startOfTime }, null);
      const turn = await say(store, project, 'hi', user);
      const record = recordOf(newId('ses'), ['hi', 'you']);
      const imported = record.session.session_id;
      await store.importSession(project, { ...record, session: { ...record.session, user } }, null);
      const fork = { session_id: newId('ses'), title: undefined };
      await store.forkSession(
        project,
        { session_id: turn, newSession: fork, copy_id_prefix: newId('msg'), through: null, now: startOfTime },
        null,
      );
      const ids = [created, turn, imported, fork.session_id];
      expect(await usersOf(store, project, ids)).toEqual([user, user, user, user]);
      expect(await usersOf(store, project, [await newSession(store, project)])).toEqual([null]);
      const { items } = await store.listSessions(project, everySession({ user }));
      expect(items.map(({ session_id }) => session_id).toSorted()).toEqual(ids.toSorted());
      expect((await store.listSessions(project, everySession({ user: 'jane doe' }))).items).toEqual([]);
      expect((await store.listSessions(await newProject(store), everySession({ user }))).items).toEqual([]);
    });

    it('that an older export does not tell change nothing, and another user is another session', async () => {
      const store = await open();
      const project = await newProject(store);
      const record = recordOf(newId('ses'), ['hi', 'you']);
      const { user: _, ...older } = record.session;
      const given = (session: object) => ({ ...record, session: { ...older, ...session } });
      const own = await store.importSession(project, given({ user }), null);
      expect(own).toMatchObject({ kind: 'done', value: { user } });
      for (const session of [{}, { user: null }, { user }])
        expect(await store.importSession(project, given(session), null)).toEqual(own);
      expect(await store.importSession(project, given({ user: 'Bob' }), null)).toEqual({
        ...{ kind: 'done', value: null },
      });
      const replaces = { session: { ...record.session, user } };
      const replaced = await store.importSession(project, { ...given({ user: 'Bob' }), replaces }, null);
      expect(replaced).toMatchObject({ kind: 'done', value: { user: 'Bob' } });
    });

    it('have all of their sessions found, with those that are deleted and those in which a turn runs', async () => {
      const store = await open();
      const [project, second] = [await newProject(store), await newProject(store)];
      const own = { session_id: newId('ses'), title: null, user };
      const busy = (await begin(store, project, { newSession: own })).session_id;
      const left = { ...own, session_id: newId('ses') };
      const abandoned = (await beginWithEndedLease(store, project, { newSession: left })).session_id;
      const active = await say(store, project, 'what was said of old', user);
      const deleted = await say(store, project, 'short', user);
      const other = await say(store, second, 'in another project', user);
      await say(store, project, 'of nobody', null);
      await store.deleteSession(project, deleted, startOfTime);
      const row = (session_id: string, project_id: string, is_deleted: boolean, is_busy: boolean) => ({
        ...{ project_id, session_id, is_deleted, is_busy },
      });
      const rows = [
        row(busy, project, false, true),
        row(abandoned, project, false, false),
        row(active, project, false, false),
        row(deleted, project, true, false),
        row(other, second, false, false),
      ].toSorted((one, next) => (one.session_id < next.session_id ? -1 : 1));
      const users = await store.ofUsers();
      expect(await users.sessions({ projectId: null, user })).toEqual(rows);
      expect(await users.sessions({ projectId: project, user })).toEqual(
        rows.filter(({ project_id }) => project_id === project),
      );
      expect(await users.sessions({ projectId: null, user: 'jane' })).toEqual([]);
      expect(await users.texts({ projectId: second, user })).toEqual({
        ...{ messages: 2, text_bytes: `in another project${turnReply().content}`.length },
      });
      const lines = ['short', 'hort', 'was said', 'of nobody', 'in another project', turnReply().content, ''];
      expect(await users.linesInTexts({ projectId: project, user }, lines)).toEqual(['short', 'was said']);
    });

    it('are erased by a purge of theirs, which leaves running turns and the sessions of others', async () => {
      const store = await open();
      const project = await newProject(store);
      const gone = await say(store, project, 'canary', user);
      const other = await say(store, project, 'canary', 'Bob');
      const active = await say(store, project, 'canary', user);
      const running = await begin(
        store,
        project,
        turnStart({ session_id: null, newSession: { session_id: newId('ses'), title: null, user } }),
      );
      const deleted = [gone, other, running.session_id];
      await store.deleteSessions(project, deleted, startOfTime, null);
      const filter = { projectId: project, user };
      expect(await store.planPurge(filter)).toMatchObject({ sessions: 1, messages: 2 });
      const options = { expected: 1, keptSince: 0, marks: ['0123456789abcdef'] };
      const by = { time: startOfTime, key_id: null, request_id: null };
      expect(await store.purgeSessions(filter, { ...options, by })).toMatchObject({
        ...{ kind: 'purged', report: { sessions: 1, messages: 2, integrity: 'ok' } },
      });
      expect(await store.holdsAny(project, [gone])).toBe(false);
      for (const id of [other, running.session_id]) expect(await store.holdsAny(project, [id])).toBe(true);
      const found = (await search(store, project, 'canary')).items.map(({ session }) => session.session_id);
      expect(found).toEqual([active]);
      expect(await store.endTurn(project, running, turnReply())).toMatchObject({ kind: 'kept' });
      await store.audit.chain();
      const entries = (await store.audit.read(0)).map(({ entry }) => JSON.parse(entry));
      expect(entries.at(-1)).toMatchObject({ what: 'purge', count: 1, ids: options.marks });
    });
  });
}
