// The behaviour of every store with an import that takes the place of a stored session.
import { describe, expect, it } from 'vitest';
import { isHidden, type Session } from '../../src/service/session.ts';
import type { SessionRecord } from '../../src/service/session-archive.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { another, everyMessage, moveOf, turnOf } from './line-samples.ts';
import {
  newId,
  newProject,
  once,
  recordOf,
  snippets,
  startOfTime,
  turnReply,
  turnStart,
} from './store-samples.ts';
import { begin } from './turn-steps.ts';

const refused = { kind: 'done', value: null } as const;

async function recordFrom(store: SessionStore, project: string, id: string): Promise<SessionRecord> {
  const session = (await store.findSession(project, id)) as Session;
  const all = await everyMessage(store, project, id);
  const hidden_messages = all.filter(isHidden);
  return {
    session,
    messages: all.filter((message) => !isHidden(message)),
    ...(hidden_messages.length > 0 && { hidden_messages }),
  };
}

/** The states of a session that was talked in, answered again, undone, gone on with another way, redone and renamed. */
async function statesOf(store: SessionStore, project: string) {
  const { session_id } = await turnOf(store, project, null, 'one');
  const states: SessionRecord[] = [];
  const keep = async () => states.push(await recordFrom(store, project, session_id));
  const now = (step: number) => ({ now: startOfTime + 10_000 * step });
  await keep();
  await another(store, project, session_id, now(1));
  await keep();
  await turnOf(store, project, session_id, 'two', now(2));
  await keep();
  await store.undoTurn(project, moveOf(session_id, now(3)));
  await keep();
  await store.redoTurn(project, moveOf(session_id, now(4)));
  await keep();
  await store.undoTurn(project, moveOf(session_id, now(5)));
  await turnOf(store, project, session_id, 'three', now(6));
  await store.changeSession(project, session_id, {
    title: 'Renamed',
    system: 'Short.',
    parameters: { seed: 1 },
  });
  await keep();
  return states;
}

export function describeReplacements(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: imports that replace`, () => {
    it('make the stored session the imported one in every field, forwards and backwards', async () => {
      const store = await open();
      const states = await statesOf(store, await newProject(store));
      const project = await newProject(store);
      const [first] = states as [SessionRecord];
      await store.importSession(project, first, null);
      let before = first;
      for (const state of [...states, ...states.slice(3, 5), states.at(-1) as SessionRecord]) {
        const isLost =
          before.messages.concat(before.hidden_messages ?? []).length >
          state.messages.concat(state.hidden_messages ?? []).length;
        const replaced = await store.importSession(project, { ...state, replaces: before }, null);
        expect(replaced).toEqual(isLost ? refused : { kind: 'done', value: state.session });
        if (!isLost) before = state;
        expect(await recordFrom(store, project, first.session.session_id)).toEqual(before);
      }
      expect(await snippets(store, project, 'three')).toEqual(['⟦THREE⟧', '⟦three⟧']);
      expect(await snippets(store, project, 'two')).toEqual([]);
      expect((await store.inspect()).integrity).toBe('ok');
    });

    it('are refused if the session has changed since, is deleted, or has a running turn', async () => {
      const store = await open();
      const project = await newProject(store);
      const record = recordOf(newId('ses'), ['a', 'b']);
      const id = record.session.session_id;
      await store.importSession(project, record, null);
      const longer = { ...recordOf(id, ['a', 'b', 'c', 'd']) };
      const messages = [...record.messages, ...longer.messages.slice(2)];
      const next = { session: longer.session, messages, replaces: record };
      await store.changeSession(project, id, { title: 'Other' });
      expect(await store.importSession(project, next, null)).toEqual(refused);
      const read = { session: (await store.findSession(project, id)) as Session };
      await store.deleteSession(project, id, startOfTime);
      expect(await store.importSession(project, { ...next, replaces: read }, null)).toEqual(refused);
      await store.restoreSession(project, id, null);
      const turn = await begin(store, project, { session_id: id });
      const running = { session: (await store.findSession(project, id)) as Session };
      expect(await store.importSession(project, { ...next, replaces: running }, null)).toEqual(refused);
      await store.endTurn(project, turn, turnReply());
      expect((await recordFrom(store, project, id)).messages).toHaveLength(4);
    });

    it('drop no message that only the replaced session itself has', async () => {
      const store = await open();
      const project = await newProject(store);
      const stored = recordOf(newId('ses'), ['a', 'b', 'c', 'd']);
      const id = stored.session.session_id;
      await store.importSession(project, stored, null);
      const other = recordOf(id, ['a', 'b', 'theirs', 'THEIRS']);
      const messages = [...stored.messages.slice(0, 2), ...other.messages.slice(2)];
      const replaces = { session: stored.session, kept_in: id };
      const record = { session: other.session, messages, replaces };
      expect(await store.importSession(project, record, null)).toEqual(refused);
      expect(await recordFrom(store, project, id)).toEqual(stored);
    });

    it('drop only messages that the named session keeps, and their keys go there', async () => {
      const store = await open();
      const project = await newProject(store);
      const record = recordOf(newId('ses'), ['a', 'b']);
      const id = record.session.session_id;
      await store.importSession(project, record, null);
      await turnOf(store, project, id, 'mine', { now: startOfTime + 5000 });
      const start = { session_id: id, content: 'again', idempotencyKey: once('key') };
      const turn = await begin(store, project, start);
      await store.endTurn(project, turn, turnReply({ content: 'AGAIN' }));
      const before = await recordFrom(store, project, id);
      const fork = {
        ...before,
        session: { ...before.session, session_id: newId('fork'), parent_id: id, forked_at: 1 },
      };
      const other = recordOf(id, ['a', 'b', 'theirs', 'THEIRS']);
      const theirs = { session: other.session, messages: [...record.messages, ...other.messages.slice(2)] };
      const replaces = { session: before.session, kept_in: fork.session.session_id };
      expect(await store.importSession(project, { ...theirs, replaces }, null)).toEqual(refused);
      expect(await store.importSession(project, { ...theirs, replaces: before }, null)).toEqual(refused);
      await store.importSession(project, fork, null);
      for (const _ of ['first', 'again']) {
        expect(await store.importSession(project, { ...theirs, replaces }, null)).toMatchObject({
          value: { session_id: id, message_count: 4 },
        });
        expect(await recordFrom(store, project, id)).toEqual(theirs);
      }
      expect(await recordFrom(store, project, fork.session.session_id)).toEqual(fork);
      expect(await store.beginTurn(project, turnStart(start))).toMatchObject({
        kind: 'answered',
        reply: { content: 'AGAIN' },
      });
      expect((await store.inspect()).integrity).toBe('ok');
    });
  });
}
