// Turns: their events, what is stored, what is refused, and what a repeated turn does.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import { collect, failureOf, say } from '../../support/calls.ts';
import { create, everySession, type GivenService, isoMilliseconds, messagesOf } from './service-fixture.ts';

/** An object of JSON with as many objects, each in the one before. */
const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

export function describeChat(given: GivenService): void {
  describe('chat', () => {
    let backend: Backend;
    let first: Call;
    beforeEach(() => {
      ({ backend, first } = given());
    });

    it('a chat without a session starts one, and streams session, deltas, done', async () => {
      const message = 'hello there, 😀 world';
      const events = await collect(
        backend.service.chat(first, { mode: 'echo', message, session_id: null }, 'chunks'),
      );
      expect(events[0]?.event).toBe('session');
      expect(events.at(-1)?.event).toBe('done');
      expect(events.slice(1, -1).every(({ event }) => event === 'delta')).toBe(true);
      const text = events.flatMap((event) => (event.event === 'delta' ? [event.data.text] : [])).join('');
      expect(text).toBe(message);
      const done = events.at(-1);
      if (done?.event !== 'done' || events[0]?.event !== 'session') throw new Error('unreachable');
      expect(done.data).toMatchObject({
        session_id: events[0].data.session_id,
        mode: 'echo',
        reply: message,
        finish_reason: 'stop',
        message_count: 2,
        usage: null,
      });
      expect(done.data.created_at).toMatch(isoMilliseconds);
      const { turns_left_out, ...others } = done.data;
      expect(turns_left_out).toBe(0);
      expect(done.body).toEqual({ success: true, data: others });
    });

    it('the messages of a turn are stored in order, with their ids', async () => {
      const reply = await say(backend.service, first, 'one');
      await say(backend.service, first, 'two', reply.session_id);
      const messages = await messagesOf(backend, first, reply.session_id);
      expect(
        messages.map(({ position, role, content, finish_reason }) => [
          position,
          role,
          content,
          finish_reason,
        ]),
      ).toEqual([
        [0, 'user', 'one', null],
        [1, 'assistant', 'one', 'stop'],
        [2, 'user', 'two', null],
        [3, 'assistant', 'two', 'stop'],
      ]);
      expect(messages[1]?.message_id).toBe(reply.message_id);
      expect(new Set(messages.map(({ message_id }) => message_id)).size).toBe(4);
      expect((await backend.service.getSession(first, reply.session_id)).data.message_count).toBe(4);
    });

    it('context carries over from turn to turn', async () => {
      const { session_id } = await say(backend.service, first, 'My name is Ada.', null, 'eliza');
      const reply = await say(backend.service, first, 'What is my name?', session_id, 'eliza');
      expect(reply.reply).toContain('Ada');
      const elsewhere = await say(backend.service, first, 'What is my name?', null, 'eliza');
      expect(elsewhere.reply).not.toContain('Ada');
    });

    it.each([
      ['first line\nsecond', 'first line'],
      ['\n\r\n  second line is the first that speaks', 'second line is the first that speaks'],
      ['tab\there', 'tab here'],
      ['bell\u0007 and escape\u001b[31m', 'bell  and escape [31m'],
      ['x'.repeat(61), 'x'.repeat(60)],
      ['😀'.repeat(61), '😀'.repeat(60)],
    ])('a session that chat made is named after the first line of %j', async (message, title) => {
      const { session_id } = await say(backend.service, first, message);
      expect((await backend.service.getSession(first, session_id)).data.title).toBe(title);
    });

    it('a session that a chat created has the title of the request, also when the turn is repeated', async () => {
      const call = { ...first, idempotencyKey: 'titled' };
      const request = { mode: 'echo', message: 'hello', session_id: null, title: 'Greetings' };
      const [reply, again] = [
        await collect(backend.service.chat(call, request, 'chunks')),
        await collect(backend.service.chat(call, request, 'whole')),
      ].map((events) => events.at(-1));
      if (reply?.event !== 'done' || again?.event !== 'done') throw new Error('unreachable');
      expect(again.data).toEqual(reply.data);
      const { data } = await backend.service.getSession(first, reply.data.session_id);
      expect(data).toMatchObject({ title: 'Greetings', message_count: 2 });
      const other = { ...request, title: 'Others' };
      const refused = await failureOf(collect(backend.service.chat(call, other, 'chunks')));
      expect(refused.code).toBe('IDEMPOTENCY_MISMATCH');
    });

    it.each([
      ['of no characters', '', 'is empty'],
      ['of 201 characters', 'x'.repeat(201), 'has 201 characters; the limit is 200'],
      ['with a line break', 'a\nb', 'holds a control character or a line break'],
    ])('a chat with a title %s is refused, and nothing is kept', async (_, title, problem) => {
      const before = (await backend.archive.listSessions(first, everySession)).data.items.length;
      const request = { mode: 'echo', message: 'hello', session_id: null, title };
      const refused = await failureOf(collect(backend.service.chat(first, request, 'chunks')));
      expect(refused).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'title', problem }] });
      expect((await backend.archive.listSessions(first, everySession)).data.items).toHaveLength(before);
    });

    it('the schema of a reply is a part of its request, and the message is kept without it', async () => {
      const call = { ...first, idempotencyKey: 'by-schema' };
      const request = { mode: 'echo', message: '{}', session_id: null, schema: '{"type":"object"}' };
      const done = (await collect(backend.service.chat(call, request, 'whole'))).at(-1);
      if (done?.event !== 'done') throw new Error('unreachable');
      const { session_id } = done.data;
      const page = { limit: 10, cursor: null };
      const { items } = (await backend.archive.listMessages(first, session_id, page)).data;
      expect(items.map(({ content }) => content)).toEqual(['{}', '{}']);
      const other = { ...request, schema: '{"type":"array"}' };
      const refused = await failureOf(collect(backend.service.chat(call, other, 'chunks')));
      expect(refused.code).toBe('IDEMPOTENCY_MISMATCH');
    });

    it.each([
      ['that is not JSON', 'type: object', 'is not JSON'],
      ['that is no object', '[]', 'is not an object of JSON'],
      ['that nests without end', nested(40_000), 'nests more than 1000 levels deep'],
      ['that nests a level too deep', nested(1001), 'nests more than 1000 levels deep'],
      ['that is too long', `{"title":"${'x'.repeat(256 * 1024)}"}`, 'has 262156 bytes; the limit is 262144'],
    ])('a schema %s is refused', async (_, schema, problem) => {
      const request = { mode: 'echo', message: 'hello', session_id: null, schema };
      const refused = await failureOf(collect(backend.service.chat(first, request, 'chunks')));
      expect(refused).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'schema', problem }] });
    });

    it('a title is refused for an existing session', async () => {
      const { session_id } = await create(backend, first, 'its own');
      const request = { mode: 'echo', message: 'hello', session_id, title: 'another' };
      const refused = await failureOf(collect(backend.service.chat(first, request, 'chunks')));
      expect(refused).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'title' }] });
      expect((await backend.service.getSession(first, session_id)).data).toMatchObject({
        title: 'its own',
        message_count: 0,
      });
    });

    it('a text is returned unchanged', async () => {
      const { session_id } = await create(backend, first);
      const texts = [
        'a\r\nb\n',
        '\ufeffbom',
        'e\u0301 é 😀 👩‍👩‍👧 日本語 \u202eabc',
        '\u001b]52;c;eA==\u0007',
        '  padded  \n',
      ];
      for (const text of texts)
        expect((await say(backend.service, first, text, session_id)).reply).toBe(text);
      const messages = await messagesOf(backend, first, session_id);
      expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(texts);
    });

    it('a message of exactly the limit is accepted; with one byte more it is refused, and both sizes are named', async () => {
      const limit = 1024 * 1024;
      for (const size of [limit - 1, limit]) {
        const reply = await say(backend.service, first, `${'é'.repeat(100)}${'x'.repeat(size - 200)}`);
        expect(Buffer.byteLength(reply.reply)).toBe(size);
      }
      const error = await failureOf(say(backend.service, first, 'x'.repeat(limit + 1)));
      expect(error.code).toBe('PAYLOAD_TOO_LARGE');
      expect(error.message).toContain(String(limit));
      expect(error.message).toContain(String(limit + 1));
      expect((await backend.archive.listSessions(first, everySession)).data.items).toHaveLength(2);
    });

    it.each([
      ['empty', ''],
      ['white space alone', ' \n\t\u3000'],
      ['with a NUL', 'a\0b'],
      ['with half of a surrogate pair', 'a\udc00'],
    ])('a message that is %s is refused, and nothing is kept', async (_, message) => {
      const error = await failureOf(say(backend.service, first, message));
      expect(error.code).toBe('INVALID_REQUEST');
      expect(error.details[0]?.field).toBe('message');
      expect((await backend.archive.listSessions(first, everySession)).data.items).toEqual([]);
    });

    it('an unknown mode is refused with a list of the modes, and nothing is stored', async () => {
      const error = await failureOf(say(backend.service, first, 'hello', null, 'oracle'));
      expect(error.code).toBe('UNKNOWN_MODE');
      expect(`${error.message} ${error.hint}`).toMatch(/oracle.*eliza.*echo/s);
      expect((await backend.archive.listSessions(first, everySession)).data.items).toEqual([]);
    });

    it('the error for an unknown mode with a long name quotes only the beginning of the name', async () => {
      const error = await failureOf(
        say(backend.service, first, 'hello', null, `${'\u{1f600}'.repeat(70)}end`),
      );
      expect(error.code).toBe('UNKNOWN_MODE');
      expect(error.message).toContain(`There is no mode "${'\u{1f600}'.repeat(64)}…".`);
    });

    it('an invalid request is refused before its session is looked up', async () => {
      expect((await failureOf(say(backend.service, first, '', 'ses_never'))).code).toBe('INVALID_REQUEST');
      expect((await failureOf(say(backend.service, first, 'x', 'ses_never', 'oracle'))).code).toBe(
        'UNKNOWN_MODE',
      );
    });

    it('turns of one session never interleave', async () => {
      const { session_id } = await create(backend, first);
      const texts = Array.from({ length: 8 }, (_, index) => `message ${index}`);
      await Promise.all(texts.map((text) => say(backend.service, first, text, session_id)));
      const messages = await messagesOf(backend, first, session_id);
      expect(messages.map(({ position }) => position)).toEqual([...Array(16).keys()]);
      for (let turn = 0; turn < 16; turn += 2) {
        expect(messages[turn]?.role).toBe('user');
        expect(messages[turn + 1]).toMatchObject({ role: 'assistant', content: messages[turn]?.content });
      }
      expect(
        messages
          .filter(({ role }) => role === 'user')
          .map(({ content }) => content)
          .sort(),
      ).toEqual(texts);
    });
  });

  describe('idempotency keys', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });

    const keyed = (call: Call, idempotencyKey: string): Call => ({ ...call, idempotencyKey });

    it('a repeated chat gets the same answer and adds nothing', async () => {
      const call = keyed(first, 'turn-1');
      const reply = await say(backend.service, call, 'once');
      expect(await say(backend.service, call, 'once')).toEqual(reply);
      expect(await messagesOf(backend, first, reply.session_id)).toHaveLength(2);
      expect((await backend.archive.listSessions(first, everySession)).data.items).toHaveLength(1);
    });

    it('a repeated creation gets the same session, also after it was renamed', async () => {
      const call = keyed(first, 'create-1');
      const created = await create(backend, call, 'Plans');
      await backend.archive.changeSession(first, created.session_id, { title: 'Other plans' });
      expect(await create(backend, call, 'Plans')).toEqual(created);
    });

    it('the same key with another request is a mismatch, and changes nothing', async () => {
      const call = keyed(first, 'k');
      const { session_id } = await say(backend.service, call, 'one');
      expect((await failureOf(say(backend.service, call, 'two'))).code).toBe('IDEMPOTENCY_MISMATCH');
      expect((await failureOf(create(backend, call))).code).toBe('IDEMPOTENCY_MISMATCH');
      expect(await messagesOf(backend, first, session_id)).toHaveLength(2);
    });

    it('a key belongs to its project', async () => {
      const mine = await say(backend.service, keyed(first, 'k'), 'one');
      const theirs = await say(backend.service, keyed(second, 'k'), 'another');
      expect(theirs.session_id).not.toBe(mine.session_id);
    });

    it('a repeated batch deletion gets the answer of the first', async () => {
      const { session_id } = await create(backend, first);
      const call = keyed(first, 'batch');
      const once = await backend.archive.deleteSessions(call, [session_id, 'ses_never']);
      expect(once.data.items).toEqual([
        { session_id, status: 'deleted' },
        { session_id: 'ses_never', status: 'not_found' },
      ]);
      expect((await backend.archive.deleteSessions(call, [session_id, 'ses_never'])).data).toEqual(once.data);
    });

    it.each(['', ' ', 'a b', 'é', 'x'.repeat(256)])('the key %j is refused', async (key) => {
      expect((await failureOf(say(backend.service, keyed(first, key), 'one'))).code).toBe('INVALID_REQUEST');
    });
  });
}
