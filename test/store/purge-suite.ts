// The purges of every store: what they erase and what they leave. Each database has its own tests for the erased bytes.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import {
  everySession,
  newId,
  newProject,
  newSession,
  once,
  search,
  startOfTime,
  turnReply,
} from './store-samples.ts';
import { begin, beginWithEndedLease, contents } from './turn-steps.ts';

const options = { expected: 1, keptSince: 0 };

export function describePurges(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: purges`, () => {
    /** A session with one turn, deleted at the given time. */
    async function deletedSession(store: SessionStore, project: string, now = startOfTime): Promise<string> {
      const turn = await begin(store, project, { content: 'canary' });
      await store.endTurn(project, turn, turnReply({ content: 'über' }));
      await store.deleteSession(project, turn.session_id, now);
      return turn.session_id;
    }

    it('report a plan first, erase what it names, and leave everything else unchanged', async () => {
      const store = await open();
      const project = await newProject(store);
      const gone = await deletedSession(store, project);
      const late = await deletedSession(store, project, startOfTime + 1);
      const active = await begin(store, project, { content: 'canary' });
      const filter = { projectId: project, deletedBefore: startOfTime + 1 };
      expect(await store.planPurge(filter)).toMatchObject({
        ...{ sessions: 1, messages: 2, text_bytes: 'canary'.length + 'über'.length + 1, unfinished: false },
      });
      const purge = await store.purgeSessions(filter, options);
      expect(purge).toMatchObject({
        kind: 'purged',
        report: { sessions: 1, messages: 2, integrity: 'ok' },
      });
      expect(await store.holdsAny(project, [gone])).toBe(false);
      expect(await store.restoreSession(project, gone, null)).toEqual({ kind: 'done', value: null });
      const { items } = await store.listSessions(project, everySession({ deleted: true }));
      expect(items.map(({ session_id }) => session_id)).toEqual([late]);
      await store.restoreSession(project, late, null);
      expect(await contents(store, project, late)).toEqual(['user: canary', 'stop: über']);
      const found = (await search(store, project, 'canary')).items.map(({ session }) => session.session_id);
      expect(found.sort()).toEqual([late, active.session_id].sort());
      expect(await store.planPurge(filter)).toMatchObject({ sessions: 0, messages: 0, text_bytes: 0 });
    });

    it('erase in one project, or in all', async () => {
      const store = await open();
      const [mine, other] = [await newProject(store), await newProject(store)];
      const own = await deletedSession(store, mine);
      const theirs = await deletedSession(store, other);
      const filter = { projectId: mine, deletedBefore: startOfTime + 1 };
      expect(await store.purgeSessions(filter, options)).toMatchObject({ kind: 'purged' });
      expect(await store.holdsAny(other, [theirs])).toBe(true);
      expect(await store.holdsAny(mine, [own])).toBe(false);
      const all = { ...filter, projectId: null };
      const counts: number[] = [];
      expect(
        await store.purgeSessions(all, { ...options, erased: (count) => counts.push(count) }),
      ).toMatchObject({ kind: 'purged', report: { sessions: 1 } });
      expect(counts).toEqual([1]);
      expect(await store.holdsAny(other, [theirs])).toBe(false);
    });

    it('with another count than expected erase nothing, and report the count', async () => {
      const store = await open();
      const project = await newProject(store);
      const id = await deletedSession(store, project);
      const filter = { projectId: project, deletedBefore: startOfTime + 1 };
      for (const expected of [0, 2]) {
        const purge = await store.purgeSessions(filter, { ...options, expected });
        expect(purge).toEqual({ kind: 'other_count', sessions: 1 });
      }
      expect(await store.planPurge(filter)).toMatchObject({ sessions: 1, unfinished: false });
      await store.restoreSession(project, id, null);
      expect(await contents(store, project, id)).toEqual(['user: canary', 'stop: über']);
    });

    it('leave a session with a running turn', async () => {
      const store = await open();
      const project = await newProject(store);
      const running = await begin(store, project);
      const abandoned = await beginWithEndedLease(store, project);
      const ids = [running.session_id, abandoned.session_id];
      await store.deleteSessions(project, ids, startOfTime, null);
      const filter = { projectId: project, deletedBefore: startOfTime + 1 };
      expect(await store.planPurge(filter)).toMatchObject({ sessions: 1 });
      expect(await store.purgeSessions(filter, options)).toMatchObject({ kind: 'purged' });
      expect(await store.holdsAny(project, [abandoned.session_id])).toBe(false);
      expect(await store.endTurn(project, running, turnReply())).toMatchObject({ kind: 'kept' });
    });

    it('forget what no key can repeat any more, and count it', async () => {
      const store = await open();
      const project = await newProject(store);
      const create = (title: string) =>
        store.createSession(project, { session_id: newId('ses'), title, now: startOfTime }, once('create'));
      const { value } = (await create('kept')) as { value: unknown };
      const everything = { projectId: null, deletedBefore: startOfTime + 1 };
      await deletedSession(store, project);
      const first = await store.purgeSessions(everything, options);
      expect(first).toMatchObject({ kind: 'purged', report: { stored_answers: 0 } });
      expect(await create('again')).toMatchObject({ value });
      await deletedSession(store, project);
      const later = await store.purgeSessions(everything, { ...options, keptSince: Date.now() + 60_000 });
      expect(later).toMatchObject({ kind: 'purged', report: { stored_answers: 1 } });
      expect(await create('anew')).toMatchObject({ value: { title: 'anew' } });
    });

    it('forget the stored answers that tell of what was erased, and no other', async () => {
      const store = await open();
      const [mine, other] = [await newProject(store), await newProject(store)];
      const session_id = newId('ses');
      const create = (project: string, title: string) =>
        store.createSession(project, { session_id, title, now: startOfTime }, once('create'));
      await create(mine, 'mine');
      const theirs = await create(other, 'theirs');
      const deleted = await store.deleteSessions(mine, [session_id], startOfTime, once('delete'));
      const remaining = await newSession(store, mine);
      const restored = await store.restoreSession(mine, remaining, once('restore'));
      await store.purgeSessions({ projectId: null, deletedBefore: startOfTime + 1 }, options);
      expect(await create(other, 'again')).toEqual(theirs);
      expect(await store.restoreSession(mine, remaining, once('restore'))).toEqual(restored);
      expect(await store.deleteSessions(mine, [session_id], startOfTime, once('delete'))).not.toEqual(
        deleted,
      );
      expect(await create(mine, 'anew')).toMatchObject({ value: { title: 'anew' } });
    });
  });
}
