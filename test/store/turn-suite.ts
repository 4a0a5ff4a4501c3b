// What every store of sessions does with turns: two writes each, one at a time in a session, none ever doubled.
import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { at, firstPage, newProject, newSession, startOfTime, turnReply, turnStart } from './store-samples.ts';

import { begin, contents, expired } from './turn-steps.ts';

export function describeTurns(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: turns`, () => {
    it('keep the message first, with a session made for it, and then the reply', async () => {
      const store = await open();
      const project = await newProject(store);
      const start = turnStart({ content: 'Ada 🙂', mode: 'eliza' });
      const turn = await begin(store, project, start);
      const { session_id, title } = start.newSession;
      const { message_id } = start;
      expect(turn).toEqual({
        ...{ session_id, message_id, position: 0, content: 'Ada 🙂', mode: 'eliza', owner: 'owner-1' },
      });
      expect(await store.findSession(project, session_id)).toEqual({
        ...{ session_id, title, created_at: at(0), updated_at: at(0), message_count: 1 },
      });
      const usage = { input_tokens: 3, output_tokens: 0 };
      const reply = turnReply({ content: 'Go on', finish_reason: 'length', usage, mode: 'fallback' });
      expect(await store.endTurn(project, turn, reply)).toEqual({ message_count: 2 });
      expect((await store.listMessages(project, session_id, firstPage))?.items).toEqual([
        {
          ...{ message_id, position: 0, role: 'user', content: 'Ada 🙂', mode: 'eliza' },
          ...{ finish_reason: null, usage: null, created_at: at(0) },
        },
        {
          ...{
            message_id: reply.message_id,
            position: 1,
            role: 'assistant',
            content: 'Go on',
            mode: 'fallback',
          },
          ...{ finish_reason: 'length', usage, created_at: at(1000) },
        },
      ]);
      expect(await store.findSession(project, session_id)).toMatchObject({
        updated_at: at(1000),
        message_count: 2,
      });
    });

    it('continue a session with what was said before', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project);
      for (const content of ['a', 'b', 'c']) {
        const turn = await begin(store, project, { session_id, content });
        await store.endTurn(project, turn, turnReply({ content: content.toUpperCase() }));
      }
      const turn = await begin(store, project, { session_id, content: 'd' });
      expect(turn.position).toBe(6);
      const said = async (before: number, limit: number) =>
        (await store.history(project, session_id, before, limit)).map((message) => message.content);
      expect(await said(turn.position, 4)).toEqual(['b', 'B', 'c', 'C']);
      expect(await said(turn.position, 100)).toEqual(['a', 'A', 'b', 'B', 'c', 'C']);
      expect(await said(0, 4)).toEqual([]);
      expect(await said(6, 0)).toEqual([]);
    });

    it('are not found in a session that is not there', async () => {
      const store = await open();
      const project = await newProject(store);
      expect(await store.beginTurn(project, turnStart({ session_id: 'none' }))).toEqual({
        kind: 'not_found',
      });
    });

    it('never run beside another, not of the same owner either', async () => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await begin(store, project);
      for (const owner of ['owner-1', 'owner-2']) {
        const lease = { owner, until: expired };
        const now = expired - 1;
        expect(await store.beginTurn(project, turnStart({ session_id, lease, now }))).toEqual({
          ...{ kind: 'busy', owner: 'owner-1', until: expired },
        });
      }
      expect(await contents(store, project, session_id)).toEqual(['user: Hello']);
    });

    it('of two that begin at once, let one wait', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = await newSession(store, project);
      const both = await Promise.all([
        store.beginTurn(project, turnStart({ session_id })),
        store.beginTurn(project, turnStart({ session_id })),
      ]);
      expect(both.map((begun) => begun.kind)).toEqual(['begun', 'busy']);
    });

    it.each([
      ['expires', { now: expired }],
      ['is known to be gone', { gone: 'owner-1' }],
    ])('of an owner that %s are closed with an empty interrupted reply', async (_, start) => {
      const store = await open();
      const project = await newProject(store);
      const { session_id } = await begin(store, project, { mode: 'eliza' });
      const next = turnStart({
        ...{ session_id, content: 'Again', lease: { owner: 'owner-2', until: expired + 1 }, ...start },
      });
      const turn = await begin(store, project, next);
      expect(turn.position).toBe(2);
      expect(await contents(store, project, session_id)).toEqual([
        'user: Hello',
        'interrupted: ',
        'user: Again',
      ]);
      const closing = (await store.listMessages(project, session_id, firstPage))?.items[1];
      expect(closing).toMatchObject({ message_id: next.closing_message_id, mode: 'eliza', usage: null });
      expect((await store.findSession(project, session_id))?.message_count).toBe(3);
    });

    it('stay with an owner that renews them', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      await store.renewTurn(project, turn, expired + 100);
      const { session_id } = turn;
      expect(await store.beginTurn(project, turnStart({ session_id, now: expired }))).toEqual({
        ...{ kind: 'busy', owner: 'owner-1', until: expired + 100 },
      });
    });

    it('are not renewed for an owner that has lost them', async () => {
      const store = await open();
      const project = await newProject(store);
      const lost = await begin(store, project);
      const { session_id } = lost;
      // The same owner's next turn: what tells them apart is the position.
      await begin(store, project, { session_id, gone: 'owner-1' });
      await store.renewTurn(project, lost, expired + 100);
      expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ until: expired });
    });

    it('keep the late reply of an owner that has lost them, in place of the empty one', async () => {
      const store = await open();
      const project = await newProject(store);
      const lost = await begin(store, project);
      const { session_id } = lost;
      const running = await begin(store, project, {
        session_id,
        content: 'Again',
        gone: 'owner-1',
        now: startOfTime + 5000,
      });
      expect(await store.endTurn(project, lost, turnReply({ content: 'late' }))).toEqual({
        message_count: 3,
      });
      expect(await contents(store, project, session_id)).toEqual([
        'user: Hello',
        'stop: late',
        'user: Again',
      ]);
      expect((await store.findSession(project, session_id))?.updated_at).toBe(at(5000));
      // The running turn is not given back by the late one.
      expect(await store.beginTurn(project, turnStart({ session_id }))).toMatchObject({ kind: 'busy' });
      expect(await store.endTurn(project, running, turnReply({ content: 'now' }))).toEqual({
        message_count: 4,
      });
    });

    it.each(['stop', 'length'] as const)('never replace a reply that ended in %s', async (finish_reason) => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      await store.endTurn(project, turn, turnReply({ content: 'whole', finish_reason }));
      const before = await store.findSession(project, turn.session_id);
      expect(await store.endTurn(project, turn, turnReply({ content: 'other', now: expired }))).toEqual({
        message_count: 2,
      });
      expect(await contents(store, project, turn.session_id)).toEqual([
        'user: Hello',
        `${finish_reason}: whole`,
      ]);
      expect(await store.findSession(project, turn.session_id)).toEqual(before);
    });

    it('in a session deleted meanwhile keep the reply and leave it deleted', async () => {
      const store = await open();
      const project = await newProject(store);
      const turn = await begin(store, project);
      await store.deleteSession(project, turn.session_id, startOfTime);
      expect(await store.endTurn(project, turn, turnReply())).toEqual({ message_count: 2 });
      expect(await store.findSession(project, turn.session_id)).toBeNull();
      await store.restoreSession(project, turn.session_id, null);
      expect(await contents(store, project, turn.session_id)).toEqual(['user: Hello', 'stop: Hello to you']);
      expect(await begin(store, project, { session_id: turn.session_id })).toMatchObject({ position: 2 });
    });
  });
}
