// Other replies, undone turns and forks of a session: what is visible, hidden and refused.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import type { ChatReply } from '../../../src/service/chat-event.ts';
import type { Message } from '../../../src/service/session.ts';
import type { RegenerateRequest } from '../../../src/service/session-archive.ts';
import { collect, failureOf, say } from '../../support/calls.ts';
import { create, type GivenService, messagesOf } from './service-fixture.ts';

/** All messages of a session, hidden ones too. */
async function allMessagesOf(
  { archive }: Backend,
  call: Call,
  sessionId: string,
): Promise<readonly Message[]> {
  const query = { limit: 200, cursor: null, all: true };
  return (await archive.listMessages(call, sessionId, query)).data.items;
}

async function regenerate(
  { archive }: Backend,
  call: Call,
  sessionId: string,
  request: RegenerateRequest = {},
): Promise<ChatReply> {
  const last = (await collect(archive.regenerate(call, sessionId, request, 'chunks'))).at(-1);
  if (last?.event !== 'done') throw new Error('the reply did not end with done');
  return last.data;
}

const texts = (messages: readonly Message[]) => messages.map(({ content }) => content);

export function describeLines(given: GivenService): void {
  let backend: Backend;
  let first: Call;
  let second: Call;
  beforeEach(() => {
    ({ backend, first, second } = given());
  });
  const keyed = (idempotencyKey: string): Call => ({ ...first, idempotencyKey });
  const read = (sessionId: string) => messagesOf(backend, first, sessionId);
  const readAll = (sessionId: string) => allMessagesOf(backend, first, sessionId);
  const search = async (query: string) =>
    (await backend.archive.searchSessions(first, { query, limit: 50, cursor: null })).data.items.map(
      ({ session }) => session.session_id,
    );
  /** A session of these messages, each answered by an echo. */
  const chatted = async (...messages: readonly string[]): Promise<string> => {
    let session: string | null = null;
    for (const message of messages)
      ({ session_id: session } = await say(backend.service, first, message, session));
    return session ?? '';
  };

  describe('another reply', () => {
    it('replaces the current one, which is kept as an alternative', async () => {
      const session = await chatted('before', 'I need help.');
      const old = (await read(session))[3];
      const reply = await regenerate(backend, first, session, { mode: 'eliza' });
      expect(reply).toMatchObject({
        session_id: session,
        mode: 'eliza',
        finish_reason: 'stop',
        message_count: 4,
      });
      const messages = await read(session);
      expect(messages).toHaveLength(4);
      expect(messages[3]).toMatchObject({ message_id: reply.message_id, content: reply.reply, position: 3 });
      expect(reply.reply).not.toBe('I need help.');
      const { message_id: alternative_of } = messages[2] as Message;
      const all = await readAll(session);
      expect(all).toHaveLength(5);
      expect(all).toContainEqual({ ...old, alternative_of });
      expect((await backend.service.getSession(first, session)).data.message_count).toBe(4);
    });

    it('streams like that of a chat, begins with the message that it answers, and uses the mode of the session by default', async () => {
      const session = await chatted('hello there');
      const [question] = await read(session);
      const events = await collect(backend.archive.regenerate(first, session, {}, 'chunks'));
      expect(events[0]).toEqual({
        event: 'session',
        data: { session_id: session, message_id: question?.message_id, mode: 'echo' },
      });
      const text = events.flatMap((event) => (event.event === 'delta' ? [event.data.text] : [])).join('');
      expect(text).toBe('hello there');
      const whole = await collect(backend.archive.regenerate(first, session, {}, 'whole'));
      expect(whole.at(-1)?.data).toMatchObject({ reply: 'hello there', mode: 'echo', message_count: 2 });
      expect(await readAll(session)).toHaveLength(4);
    });

    it('is refused for a session without messages, an unknown mode, and an invalid key, and changes nothing', async () => {
      const { session_id } = await create(backend, first);
      expect((await failureOf(regenerate(backend, first, session_id))).code).toBe('INVALID_REQUEST');
      const session = await chatted('hello');
      const unknown = await failureOf(regenerate(backend, first, session, { mode: 'oracle' }));
      expect(unknown.code).toBe('UNKNOWN_MODE');
      expect(`${unknown.message} ${unknown.hint}`).toMatch(/oracle.*eliza.*echo/s);
      expect((await failureOf(regenerate(backend, keyed('a b'), session))).code).toBe('INVALID_REQUEST');
      expect(await readAll(session)).toHaveLength(2);
    });

    it('with a key is requested once, and the key gets its own reply even if that is an alternative by then', async () => {
      const session = await chatted('I am sad.');
      const reply = await regenerate(backend, keyed('other'), session, { mode: 'eliza' });
      expect(await regenerate(backend, keyed('other'), session, { mode: 'eliza' })).toEqual(reply);
      expect(await readAll(session)).toHaveLength(3);
      const newest = await regenerate(backend, first, session);
      expect(await regenerate(backend, keyed('other'), session, { mode: 'eliza' })).toMatchObject({
        message_id: reply.message_id,
        reply: reply.reply,
      });
      expect((await read(session))[1]?.message_id).toBe(newest.message_id);
      const other = await failureOf(regenerate(backend, keyed('other'), session));
      expect(other.code).toBe('IDEMPOTENCY_MISMATCH');
    });

    it('does not change the response to the key of the message', async () => {
      const reply = await say(backend.service, keyed('asked'), 'I am sad.');
      await regenerate(backend, first, reply.session_id, { mode: 'eliza' });
      expect(await say(backend.service, keyed('asked'), 'I am sad.')).toMatchObject({
        message_id: reply.message_id,
        reply: 'I am sad.',
      });
      expect(await read(reply.session_id)).toHaveLength(2);
    });
  });

  describe('undo and redo', () => {
    it('work on the last turn, one turn at a time', async () => {
      const session = await chatted('one', 'two', 'three');
      const whole = await read(session);
      for (const at of [4, 2]) {
        const undone = (await backend.archive.undoTurn(first, session)).data;
        const question = { ...(whole[at] as Message), undone_at: expect.any(String) };
        expect(undone.message).toMatchObject({ message_id: question.message_id, content: question.content });
        expect(undone.session).toMatchObject({ session_id: session, message_count: at });
        expect(await read(session)).toEqual(whole.slice(0, at));
      }
      const all = await readAll(session);
      expect(texts(all)).toEqual(texts(whole));
      const times = all.map(({ undone_at }) => undone_at);
      expect(times.slice(0, 2)).toEqual([undefined, undefined]);
      expect(times[2]).toBe(times[3]);
      expect(times[4]).toBe(times[5]);
      expect((times[2] as string) > (times[4] as string)).toBe(true);
      for (const at of [2, 4]) {
        const redone = (await backend.archive.redoTurn(first, session)).data;
        expect(redone.message).toEqual(whole[at]);
        expect(redone.session.message_count).toBe(at + 2);
      }
      expect(await read(session)).toEqual(whole);
      expect(await readAll(session)).toEqual(whole);
    });

    it('are refused if there is nothing to undo or redo', async () => {
      const { session_id } = await create(backend, first);
      expect((await failureOf(backend.archive.undoTurn(first, session_id))).code).toBe('INVALID_REQUEST');
      const session = await chatted('one', 'two');
      expect((await failureOf(backend.archive.redoTurn(first, session))).code).toBe('INVALID_REQUEST');
      await backend.archive.undoTurn(first, session);
      await backend.archive.redoTurn(first, session);
      expect((await failureOf(backend.archive.redoTurn(first, session))).code).toBe('INVALID_REQUEST');
      expect(await read(session)).toHaveLength(4);
    });

    it.each(['a message', 'another reply'])(
      'what was undone cannot be brought back after %s, and can be read',
      async (after) => {
        const session = await chatted('one', 'two');
        await backend.archive.undoTurn(first, session);
        if (after === 'a message') await say(backend.service, first, 'other', session);
        else await regenerate(backend, first, session);
        expect((await failureOf(backend.archive.redoTurn(first, session))).code).toBe('INVALID_REQUEST');
        const all = await readAll(session);
        expect(texts(all.filter(({ undone_at }) => undone_at !== undefined))).toEqual(['two', 'two']);
        await backend.archive.undoTurn(first, session);
        await backend.archive.redoTurn(first, session);
        expect(texts(await read(session))).toEqual(
          after === 'a message' ? ['one', 'one', 'other', 'other'] : ['one', 'one'],
        );
      },
    );

    it('keep the alternatives of a turn with it', async () => {
      const session = await chatted('I am sad.');
      await regenerate(backend, first, session, { mode: 'eliza' });
      const before = await readAll(session);
      await backend.archive.undoTurn(first, session);
      expect(await read(session)).toEqual([]);
      const hidden = await readAll(session);
      expect(hidden.map(({ message_id }) => message_id)).toEqual(before.map(({ message_id }) => message_id));
      await backend.archive.redoTurn(first, session);
      expect(await readAll(session)).toEqual(before);
    });

    it('leave the session in the mode of its last turn, or in its earlier mode if no turn remains', async () => {
      const session = await chatted('one');
      await regenerate(backend, first, session, { mode: 'eliza' });
      for (const mode of ['echo', 'eliza', 'echo'])
        await say(backend.service, first, `in ${mode}`, session, mode);
      const { undoTurn, redoTurn } = backend.archive;
      const modesAfter = async (move: typeof undoTurn | typeof redoTurn, times: number) => {
        const modes: (string | null)[] = [];
        for (let time = 0; time < times; time += 1) {
          const mode = (await move.call(backend.archive, first, session)).data.session.mode;
          expect((await backend.service.getSession(first, session)).data.mode).toBe(mode);
          modes.push(mode);
        }
        return modes;
      };
      expect(await modesAfter(undoTurn, 4)).toEqual(['eliza', 'echo', 'eliza', 'eliza']);
      expect(await modesAfter(redoTurn, 4)).toEqual(['eliza', 'echo', 'eliza', 'echo']);
    });

    it('determine the history for the model', async () => {
      const session = await chatted('before');
      await say(backend.service, first, 'My name is Ada.', session, 'eliza');
      await backend.archive.undoTurn(first, session);
      const reply = await say(backend.service, first, 'What is my name?', session, 'eliza');
      expect(reply.reply).not.toContain('Ada');
    });

    it('with a key have one effect', async () => {
      const session = await chatted('one', 'two', 'three');
      const undone = (await backend.archive.undoTurn(keyed('u'), session)).data;
      expect((await backend.archive.undoTurn(keyed('u'), session)).data).toEqual(undone);
      expect(await read(session)).toHaveLength(4);
      await backend.archive.undoTurn(first, session);
      const redone = (await backend.archive.redoTurn(keyed('r'), session)).data;
      expect((await backend.archive.redoTurn(keyed('r'), session)).data).toEqual(redone);
      expect(await read(session)).toHaveLength(4);
      expect((await failureOf(backend.archive.redoTurn(keyed('u'), session))).code).toBe(
        'IDEMPOTENCY_MISMATCH',
      );
    });

    it('the key of an undone message gets its reply, and restores nothing', async () => {
      const session = await chatted('one');
      const reply = await say(backend.service, keyed('two'), 'two', session);
      await backend.archive.undoTurn(first, session);
      const again = await say(backend.service, keyed('two'), 'two', session);
      expect(again).toMatchObject({ message_id: reply.message_id, reply: 'two' });
      expect(await read(session)).toHaveLength(2);
      await say(backend.service, first, 'three', session);
      expect(await say(backend.service, keyed('two'), 'two', session)).toMatchObject({ reply: 'two' });
      expect(texts(await read(session))).toEqual(['one', 'one', 'three', 'three']);
    });

    it('one turn at a time even if several are requested at once', async () => {
      const session = await chatted('one', 'two', 'three', 'four');
      await Promise.all([1, 2, 3].map(() => backend.archive.undoTurn(first, session)));
      expect(texts(await read(session))).toEqual(['one', 'one']);
      await Promise.all([1, 2, 3].map(() => backend.archive.redoTurn(first, session)));
      expect(texts(await read(session)).filter((_, at) => at % 2 === 0)).toEqual([
        'one',
        'two',
        'three',
        'four',
      ]);
    });
  });

  describe('a fork', () => {
    it('has the messages of its parent under new ids, and names it', async () => {
      const session = await chatted('one', 'two');
      const parent = (await backend.service.getSession(first, session)).data;
      const fork = (await backend.archive.forkSession(first, session, {})).data;
      expect(fork).toMatchObject({ title: parent.title, message_count: 4, parent_id: session, forked_at: 3 });
      expect((await backend.service.getSession(first, fork.session_id)).data).toEqual(fork);
      const [copies, originals] = [await read(fork.session_id), await read(session)];
      const withoutId = ({ message_id: _, ...rest }: Message) => rest;
      expect(copies.map(withoutId)).toEqual(originals.map(withoutId));
      const ids = [...copies, ...originals].map(({ message_id }) => message_id);
      expect(new Set(ids).size).toBe(8);
      expect((await backend.service.getSession(first, session)).data).toEqual(parent);
    });

    it('through a reply, with a title of its own, is independent', async () => {
      const session = await chatted('one', 'two', 'three');
      const { session_id } = (
        await backend.archive.forkSession(first, session, { through: 1, title: 'Other' })
      ).data;
      await say(backend.service, first, 'else', session_id);
      expect(texts(await read(session_id))).toEqual(['one', 'one', 'else', 'else']);
      expect((await backend.service.getSession(first, session_id)).data).toMatchObject({
        title: 'Other',
        forked_at: 1,
      });
      expect(texts(await read(session))).toEqual(['one', 'one', 'two', 'two', 'three', 'three']);
      const untitled = (await backend.archive.forkSession(first, session, { title: null })).data;
      expect(untitled.title).toBeNull();
    });

    it('has only the visible messages, and outlives its parent', async () => {
      const session = await chatted('one', 'two', 'three');
      await regenerate(backend, first, session, { mode: 'eliza' });
      await backend.archive.undoTurn(first, session);
      await regenerate(backend, first, session, { mode: 'eliza' });
      const { session_id } = (await backend.archive.forkSession(first, session, {})).data;
      const copies = await readAll(session_id);
      expect(texts(copies)).toEqual(texts(await read(session)));
      await backend.service.deleteSession(first, session);
      expect(await readAll(session_id)).toEqual(copies);
      expect(await search('two')).toEqual([session_id]);
      await backend.archive.undoTurn(first, session_id);
      expect(texts(await read(session_id))).toEqual(['one', 'one']);
    });

    it('is refused at a position without a reply', async () => {
      const session = await chatted('one', 'two');
      await backend.archive.undoTurn(first, session);
      await say(backend.service, first, 'other', session);
      for (const through of [0, 2, 4, 5, -1]) {
        const failure = await failureOf(backend.archive.forkSession(first, session, { through }));
        expect(failure).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'through' }] });
      }
    });

    it('is refused for a session without messages and for an invalid title', async () => {
      const { session_id } = await create(backend, first);
      expect((await failureOf(backend.archive.forkSession(first, session_id, {}))).code).toBe(
        'INVALID_REQUEST',
      );
      const session = await chatted('one');
      const failure = await failureOf(backend.archive.forkSession(first, session, { title: '' }));
      expect(failure).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'title' }] });
    });

    it('with a key is created once', async () => {
      const session = await chatted('one');
      const fork = (await backend.archive.forkSession(keyed('f'), session, {})).data;
      expect((await backend.archive.forkSession(keyed('f'), session, {})).data).toEqual(fork);
      const other = await failureOf(backend.archive.forkSession(keyed('f'), session, { title: 'x' }));
      expect(other.code).toBe('IDEMPOTENCY_MISMATCH');
    });
  });

  describe('hidden messages', () => {
    it('are found by no search, and are found again when they are brought back', async () => {
      const session = await chatted('the zebra sleeps');
      expect(await search('zebra')).toEqual([session]);
      await regenerate(backend, first, session, { mode: 'eliza' });
      await say(backend.service, first, 'the walrus wakes', session);
      expect(await search('walrus')).toEqual([session]);
      await backend.archive.undoTurn(first, session);
      expect(await search('walrus')).toEqual([]);
      await backend.archive.redoTurn(first, session);
      expect(await search('walrus')).toEqual([session]);
    });

    it('are listed page by page, in the order of their positions', async () => {
      const session = await chatted('one', 'two', 'three');
      for (const mode of ['eliza', 'echo']) await regenerate(backend, first, session, { mode });
      for (let turns = 0; turns < 2; turns += 1) await backend.archive.undoTurn(first, session);
      await say(backend.service, first, 'other', session);
      const all = await readAll(session);
      expect(all.map(({ position }) => position)).toEqual([0, 1, 2, 2, 3, 3, 4, 5, 5, 5]);
      const paged: Message[] = [];
      let cursor: string | null = null;
      do {
        const query = { limit: 3, cursor, all: true };
        const { data }: { data: { items: readonly Message[]; next_cursor: string | null } } =
          await backend.archive.listMessages(first, session, query);
        paged.push(...data.items);
        cursor = data.next_cursor;
      } while (cursor !== null);
      expect(paged).toEqual(all);
    });

    it('are not on the last page, which begins so many messages before the end of the line', async () => {
      const session = await chatted('one', 'two', 'three');
      await regenerate(backend, first, session, { mode: 'eliza' });
      await backend.archive.undoTurn(first, session);
      const last = async (limit: number) =>
        (await backend.archive.listMessages(first, session, { limit, cursor: null, last: true })).data;
      const line = await read(session);
      expect(line).toHaveLength(4);
      for (const limit of [1, 2, 3, 4, 5])
        expect(await last(limit)).toEqual({ items: line.slice(-limit), next_cursor: null });
      const both = { limit: 2, cursor: null, last: true, all: true };
      expect((await failureOf(backend.archive.listMessages(first, session, both))).code).toBe(
        'INVALID_REQUEST',
      );
    });

    it('are exported and imported with their session', async () => {
      const session = await chatted('one', 'two', 'three');
      await regenerate(backend, first, session, { mode: 'eliza' });
      await backend.archive.undoTurn(first, session);
      const all = await readAll(session);
      const hidden = all.filter(
        ({ alternative_of, undone_at }) => (alternative_of ?? undone_at) !== undefined,
      );
      const record = {
        session: (await backend.service.getSession(first, session)).data,
        messages: await read(session),
        hidden_messages: hidden,
      };
      expect(hidden).toHaveLength(3);
      await backend.archive.importSession(second, record);
      expect(await allMessagesOf(backend, second, session)).toEqual(all);
      expect((await backend.archive.importSession(second, record)).data.message_count).toBe(4);
      const other = { ...record, hidden_messages: hidden.map((one) => ({ ...one, content: 'other' })) };
      expect((await failureOf(backend.archive.importSession(second, other))).code).toBe('INVALID_REQUEST');
      expect(await allMessagesOf(backend, second, session)).toEqual(all);
    });
  });
}
