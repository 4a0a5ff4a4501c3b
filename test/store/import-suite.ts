// The behaviour of every store with a session that another store exported.
import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/service/session.ts';
import type { SessionRecord } from '../../src/service/session-archive.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { everyMessage, moveOf } from './line-samples.ts';
import {
  at,
  newId,
  newProject,
  newSession,
  once,
  recordOf,
  snippets,
  startOfTime,
  turnReply,
} from './store-samples.ts';
import { begin, contents } from './turn-steps.ts';

const taken = { kind: 'done', value: null } as const;

function withReply(record: SessionRecord, reply: object): SessionRecord {
  return {
    ...record,
    messages: record.messages.map((message) => (message.position === 1 ? { ...message, ...reply } : message)),
  };
}

export function describeImports(name: string, open: () => Promise<SessionStore>): void {
  describe(`${name}: imports`, () => {
    it('store the session and each of its messages unchanged, for any number of messages', async () => {
      const store = await open();
      const project = await newProject(store);
      const many = recordOf(
        newId('ses'),
        Array.from({ length: 250 }, (_, index) => `text ${index}`),
        'Größe 🙂',
      );
      const usage = { input_tokens: 3, output_tokens: 0 };
      const record = withReply(many, { finish_reason: 'error', error_code: 'ENGINE_FAILED', usage });
      const { session } = record;
      expect(await store.importSession(project, record, null)).toEqual({ kind: 'done', value: session });
      expect(await store.findSession(project, session.session_id)).toEqual(session);
      const place = { limit: 1000, after: null };
      const messages = await store.listMessages(project, session.session_id, place);
      expect(messages).toEqual({ items: record.messages, hasMore: false });
      expect(await snippets(store, project, '"text 249"')).toEqual(['⟦text 249⟧']);
    });

    it('leave an equal stored session unchanged, and it can be continued', async () => {
      const store = await open();
      const project = await newProject(store);
      const record = withReply(recordOf(newId('ses'), ['a', 'b']), {
        ...{
          finish_reason: 'error',
          error_code: 'ENGINE_FAILED',
          usage: { input_tokens: 1, output_tokens: 2 },
        },
      });
      const { session } = record;
      await store.importSession(project, record, null);
      // An older export has no error code, and the order of fields does not matter.
      const { error_code: _, ...reply } = record.messages[1] as SessionRecord['messages'][number];
      const usage = { output_tokens: 2, input_tokens: 1 };
      const older = { session, messages: [...record.messages.slice(0, 1), { ...reply, usage }] };
      for (const again of [record, older])
        expect(await store.importSession(project, again, null)).toEqual({ kind: 'done', value: session });
      const turn = await begin(store, project, { session_id: session.session_id, content: 'c' });
      expect(turn.position).toBe(2);
      await store.endTurn(project, turn, turnReply({ content: 'd' }));
      expect(await contents(store, project, session.session_id)).toEqual([
        'user: a',
        'error: b',
        'user: c',
        'stop: d',
      ]);
    });

    it.each<[string, (record: SessionRecord) => SessionRecord]>([
      ['another title', (record) => ({ ...record, session: { ...record.session, title: 'other' } })],
      ['another text', (record) => withReply(record, { content: 'other' })],
      ['another usage', (record) => withReply(record, { usage: { input_tokens: 1, output_tokens: 1 } })],
      ['another count', ({ session }) => recordOf(session.session_id, ['a', 'b', 'c', 'd'])],
    ])('refuse an id that a session of %s has, and change nothing', async (_, changed) => {
      const store = await open();
      const project = await newProject(store);
      const record = recordOf(newId('ses'), ['a', 'b']);
      await store.importSession(project, record, null);
      expect(await store.importSession(project, changed(record), null)).toEqual(taken);
      expect(await store.findSession(project, record.session.session_id)).toEqual(record.session);
      expect(await contents(store, project, record.session.session_id)).toEqual(['user: a', 'stop: b']);
    });

    it('refuse the id of a deleted session, and accept the id of another project’s session', async () => {
      const store = await open();
      const [mine, other] = [await newProject(store), await newProject(store)];
      const session_id = await newSession(store, other, { title: 'theirs' });
      const record = recordOf(session_id, ['a', 'b'], 'mine');
      const done = { kind: 'done', value: record.session };
      expect(await store.importSession(mine, record, null)).toEqual(done);
      expect((await store.findSession(other, session_id))?.title).toBe('theirs');
      await store.deleteSession(mine, session_id, startOfTime);
      expect(await store.importSession(mine, record, null)).toEqual(taken);
    });

    it('store a message without a reply as a turn that nobody runs', async () => {
      const store = await open();
      const project = await newProject(store);
      const session_id = newId('ses');
      await store.importSession(project, recordOf(session_id, ['a', 'b', 'c']), null);
      const turn = await begin(store, project, { session_id, content: 'd' });
      expect(turn.position).toBe(4);
      expect(await contents(store, project, session_id)).toEqual([
        ...['user: a', 'stop: b', 'user: c', 'interrupted: ', 'user: d'],
      ]);
    });

    it('happen once per key, whatever their length', async () => {
      const store = await open();
      const project = await newProject(store);
      for (const length of [2, 250]) {
        const record = recordOf(newId('ses'), Array(length).fill('text'));
        const key = `import ${length}`;
        const first = await store.importSession(project, record, once(key));
        await store.deleteSession(project, record.session.session_id, startOfTime);
        expect(await store.importSession(project, record, once(key))).toEqual(first);
        const other = recordOf(newId('ses'), ['a', 'b']);
        expect(await store.importSession(project, other, once(key, 'other'))).toEqual({ kind: 'mismatch' });
        expect(await store.findSession(project, other.session.session_id)).toBeNull();
      }
    });

    it.each([3, 700])('store hidden messages too, %i of them, and know them again', async (count) => {
      const store = await open();
      const project = await newProject(store);
      const record = recordOf(newId('ses'), ['a', 'A']);
      const [question, answer] = record.messages as [Message, Message];
      const alternatives = Array.from({ length: count }, (_, index) => ({
        ...{ ...answer, message_id: `other_${String(index).padStart(4, '0')}` },
        ...{ alternative_of: question.message_id, content: `other ${index}` },
      }));
      const undone = [question, answer].map((message) => ({
        ...{ ...message, position: message.position + 2, undone_at: at(0) },
        message_id: newId('msg'),
      }));
      const given = { ...record, hidden_messages: [...alternatives, ...undone] };
      const { session_id } = record.session;
      for (let times = 0; times < 2; times += 1)
        expect(await store.importSession(project, given, null)).toMatchObject({ value: { session_id } });
      expect(await everyMessage(store, project, session_id, 200)).toHaveLength(count + 4);
      expect(await contents(store, project, session_id)).toEqual(['user: a', 'stop: A']);
      // Nothing is brought back that another store has undone.
      expect(await store.redoTurn(project, moveOf(session_id))).toEqual({ kind: 'nothing' });
      const other = { ...given, hidden_messages: [{ ...alternatives[0], content: 'changed' } as Message] };
      expect(await store.importSession(project, other, null)).toMatchObject({ value: null });
      expect(await store.importSession(project, record, null)).toMatchObject({ value: { session_id } });
      expect((await store.inspect()).integrity).toBe('ok');
    });
  });
}
