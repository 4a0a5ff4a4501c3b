// Imports: a session is stored unchanged, or refused with the name of the invalid field.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import type { Message } from '../../../src/service/session.ts';
import type { SessionRecord } from '../../../src/service/session-archive.ts';
import { collect, failureOf, say } from '../../support/calls.ts';
import { answerTo, emptyRecord, everySession, type GivenService, messagesOf } from './service-fixture.ts';

export function describeImport(given: GivenService): void {
  describe('importing', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });

    const record = async (call: Call, sessionId: string): Promise<SessionRecord> => ({
      session: (await backend.service.getSession(call, sessionId)).data,
      messages: await messagesOf(backend, call, sessionId),
    });
    const talk = async () => {
      const { session_id } = await say(backend.service, first, 'Hello fox 🦊');
      await say(backend.service, first, 'and\r\nmore', session_id);
      return record(first, session_id);
    };
    const renamed = ({ session, messages }: SessionRecord, session_id: string): SessionRecord => ({
      session: { ...session, session_id },
      messages,
    });

    it('an imported session is unchanged, and can be searched and continued', async () => {
      const given = renamed(await talk(), 'ses_elsewhere');
      const { data, body } = await backend.archive.importSession(first, given);
      expect(data).toEqual(given.session);
      expect(body).toEqual({ success: true, data });
      expect(await record(first, 'ses_elsewhere')).toEqual(given);
      const hits = await backend.archive.searchSessions(first, { query: 'fox', limit: 9, cursor: null });
      expect(hits.data.items.map(({ session }) => session.session_id)).toContain('ses_elsewhere');
      expect((await say(backend.service, first, 'on', 'ses_elsewhere')).message_count).toBe(6);
    });

    it('a session of another program has no mode before its first turn here, and never that of its source', async () => {
      const { session, messages } = renamed(await talk(), 'ses_other');
      const { mode: _, ...facts } = session;
      const foreign = messages.map((message, at) => ({ ...message, message_id: `llm/c/${at}`, mode: 'gpt' }));
      const modeOf = async (id: string) => (await backend.service.getSession(first, id)).data.mode;
      for (const given of [facts, { ...facts, mode: null }]) {
        const { data } = await backend.archive.importSession(first, { session: given, messages: foreign });
        expect(data.mode).toBe(null);
      }
      const { items } = (await backend.archive.listSessions(first, everySession)).data;
      expect(items.map(({ mode }) => mode).sort()).toEqual(['echo', null]);
      const { archive } = backend;
      const { session_id: copy } = (await archive.forkSession(first, 'ses_other', {})).data;
      const refused = await failureOf(collect(archive.regenerate(first, 'ses_other', {}, 'whole')));
      expect(refused).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'mode' }] });
      for (const id of ['ses_other', copy]) {
        for (const move of ['undoTurn', 'redoTurn'] as const)
          expect((await archive[move](first, id)).data.session.mode).toBe(null);
        expect(await modeOf(id)).toBe(null);
        await say(backend.service, first, 'on', id);
        expect(await modeOf(id)).toBe('echo');
        for (const move of ['undoTurn', 'undoTurn', 'redoTurn'] as const) {
          expect((await archive[move](first, id)).data.session.mode).toBe('echo');
          expect(await modeOf(id)).toBe('echo');
        }
        await collect(archive.regenerate(first, id, { mode: 'eliza' }, 'whole'));
        expect(await modeOf(id)).toBe('eliza');
      }
      const copies = await messagesOf(backend, first, copy);
      expect(copies.map(({ mode }) => mode)).toEqual(['gpt', 'gpt', 'gpt', 'eliza']);
    });

    it('a session with times before 1970 is imported unchanged', async () => {
      const { session, messages } = renamed(await talk(), 'ses_early');
      const created_at = '1969-11-08T17:22:31.249Z';
      const early = {
        session: { ...session, created_at, updated_at: created_at },
        messages: messages.map((message) => ({ ...message, created_at })),
      };
      await backend.archive.importSession(first, early);
      expect(await record(first, 'ses_early')).toEqual(early);
    });

    it('the error code of a failed reply is imported with the reply', async () => {
      const given = renamed(await talk(), 'ses_failed');
      const messages = given.messages.map((message, at) =>
        at === 3 ? { ...message, finish_reason: 'error' as const, error_code: 'RATE_LIMITED' } : message,
      );
      const failed = { ...given, messages };
      await backend.archive.importSession(first, failed);
      expect(await record(first, 'ses_failed')).toEqual(failed);
      // Once more, and once as an older version exported it.
      const { error_code: _, ...older } = messages[3] as Message;
      for (const again of [failed, { ...given, messages: [...messages.slice(0, 3), older as Message] }])
        expect((await backend.archive.importSession(first, again)).data).toEqual(given.session);
      expect(await record(first, 'ses_failed')).toEqual(failed);
      const wrongs = [
        { at: 3, code: 'no code' },
        { at: 3, code: 7 },
        { at: 1, code: 'RATE_LIMITED' },
        { at: 0, code: 'RATE_LIMITED' },
      ];
      for (const { at, code } of wrongs) {
        const wrong = messages.map((message, place) =>
          place === at ? { ...message, error_code: code as string } : message,
        );
        const other = { session: { ...given.session, session_id: 'ses_wrong' }, messages: wrong };
        expect(await failureOf(backend.archive.importSession(first, other))).toMatchObject({
          code: 'INVALID_REQUEST',
          details: [{ field: `messages[${at}].error_code` }],
        });
      }
    });

    it('an equal session that exists stays unchanged', async () => {
      const given = await talk();
      expect((await backend.archive.importSession(first, given)).data).toEqual(given.session);
      expect(await record(first, given.session.session_id)).toEqual(given);
    });

    it('a session that was continued elsewhere gets its new messages, and keeps its own title', async () => {
      const given = renamed(await talk(), 'ses_grown');
      const shorter = (count: number): SessionRecord => ({
        session: { ...given.session, message_count: count },
        messages: given.messages.slice(0, count),
      });
      await backend.archive.importSession(first, shorter(2));
      await backend.archive.changeSession(first, 'ses_grown', { title: 'my own' });
      for (const count of [3, 4]) {
        const { data } = await backend.archive.importSession(first, shorter(count));
        expect(data).toMatchObject({ message_count: count, title: 'my own' });
      }
      expect(await messagesOf(backend, first, 'ses_grown')).toEqual(given.messages);
      expect((await say(backend.service, first, 'here', 'ses_grown')).message_count).toBe(6);
      const other = given.messages.map((message) => ({ ...message, message_id: `other${message.position}` }));
      const session = { ...given.session, session_id: 'ses_other' };
      await backend.archive.importSession(first, {
        session: { ...session, message_count: 2 },
        messages: other.slice(0, 2),
      });
      expect(await failureOf(backend.archive.importSession(first, { ...given, session }))).toMatchObject({
        code: 'INVALID_REQUEST',
      });
    });

    it('the id of another session is refused, always with the same answer, and nothing changes', async () => {
      const given = await talk();
      const id = given.session.session_id;
      const changed = {
        session: given.session,
        messages: given.messages.map((message, at) =>
          at === 2 ? { ...message, content: 'other' } : message,
        ),
      };
      const answers = new Set<string>();
      const refused = async (call: Call, one: SessionRecord) => {
        const error = await failureOf(backend.archive.importSession(call, one));
        expect(error.code).toBe('INVALID_REQUEST');
        // The same for each of these cases, so that the answer does not distinguish them.
        expect(error.message).toContain('its id belongs to a different session');
        answers.add(answerTo(error));
      };
      await refused(first, changed);
      await refused(first, { ...given, session: { ...given.session, title: 'other' } });
      expect(await record(first, id)).toEqual(given);
      await backend.service.deleteSession(first, id);
      await refused(first, given);
      expect(answers.size).toBe(1);
    });

    it('an id that another project uses is imported like any other, and each project keeps its own session', async () => {
      const given = await talk();
      const id = given.session.session_id;
      const own = { ...given, session: { ...given.session, title: 'of the second' } };
      const free = await backend.archive.importSession(second, renamed(own, 'ses_of_nobody'));
      const taken = await backend.archive.importSession(second, own);
      const naming = JSON.stringify({ ...free.data, session_id: id });
      expect(JSON.stringify(taken.data)).toBe(naming);
      expect(await record(second, id)).toEqual(own);
      expect(await record(first, id)).toEqual(given);
      await backend.service.deleteSession(second, id);
      expect(await record(first, id)).toEqual(given);
      const found = await backend.archive.searchSessions(first, { query: 'fox', limit: 9, cursor: null });
      expect(found.data.items.filter(({ session }) => session.session_id === id)).toHaveLength(1);
      expect((await backend.archive.restoreSession(second, id)).data.title).toBe('of the second');
    });

    it('a turn without a reply is closed by the next chat', async () => {
      const { session, messages } = await talk();
      const given = {
        session: { ...session, session_id: 'ses_open', message_count: 3 },
        messages: messages.slice(0, 3),
      };
      await backend.archive.importSession(first, given);
      expect(await record(first, 'ses_open')).toEqual(given);
      await say(backend.service, first, 'next', 'ses_open');
      const after = await messagesOf(backend, first, 'ses_open');
      expect(after.map(({ finish_reason }) => finish_reason)).toEqual([
        null,
        'stop',
        null,
        'interrupted',
        null,
        'stop',
      ]);
    });

    it('a repeated import with a key gets the answer of the first; another import with that key is a mismatch', async () => {
      const given = renamed(await talk(), 'ses_keyed');
      const call = { ...first, idempotencyKey: 'import-1' };
      const { data } = await backend.archive.importSession(call, given);
      await backend.archive.changeSession(first, 'ses_keyed', { title: 'renamed' });
      expect((await backend.archive.importSession(call, given)).data).toEqual(data);
      const error = await failureOf(backend.archive.importSession(call, emptyRecord));
      expect(error.code).toBe('IDEMPOTENCY_MISMATCH');
    });

    const faults: readonly [string, string, (record: SessionRecord) => unknown][] = [
      ['an id of another form', 'session.session_id', (one) => renamed(one, '../x')],
      [
        'a time without milliseconds',
        'session.created_at',
        ({ session, messages }) => ({
          session: { ...session, created_at: '2024-05-01T12:00:00Z' },
          messages,
        }),
      ],
      [
        'a last activity before its creation',
        'session.updated_at',
        ({ session, messages }) => ({
          session: { ...session, updated_at: '2020-01-01T00:00:00.000Z' },
          messages,
        }),
      ],
      [
        'a wrong count',
        'session.message_count',
        ({ session, messages }) => ({ session: { ...session, message_count: 3 }, messages }),
      ],
      [
        'a title with a line break',
        'session.title',
        ({ session, messages }) => ({ session: { ...session, title: 'a\nb' }, messages }),
      ],
      [
        'an unknown field',
        'session.owner',
        ({ session, messages }) => ({ session: { ...session, owner: 'x' }, messages }),
      ],
      [
        'a missing field',
        'session.title',
        ({ session: { title: _, ...session }, messages }) => ({ session, messages }),
      ],
      ['no messages', 'messages', ({ session }) => ({ session })],
      ['a position out of place', 'messages[1].position', (one) => withMessage(one, 1, { position: 2 })],
      [
        'two sides that do not take turns',
        'messages[1].role',
        (one) => withMessage(one, 1, { role: 'user', finish_reason: null }),
      ],
      [
        'a reply that did not end',
        'messages[1].finish_reason',
        (one) => withMessage(one, 1, { finish_reason: null }),
      ],
      [
        'a message that ended',
        'messages[2].finish_reason',
        (one) => withMessage(one, 2, { finish_reason: 'stop' }),
      ],
      [
        'an unknown end',
        'messages[3].finish_reason',
        (one) => withMessage(one, 3, { finish_reason: 'bored' }),
      ],
      ['a blank message', 'messages[0].content', (one) => withMessage(one, 0, { content: ' ' })],
      ['a NUL', 'messages[1].content', (one) => withMessage(one, 1, { content: 'a\0b' })],
      ['a content that is no text', 'messages[1].content', (one) => withMessage(one, 1, { content: 7 })],
      [
        'a message of a user with usage',
        'messages[0].usage',
        (one) => withMessage(one, 0, { usage: { input_tokens: 1, output_tokens: 1 } }),
      ],
      [
        'a negative usage',
        'messages[1].usage.input_tokens',
        (one) => withMessage(one, 1, { usage: { input_tokens: -1, output_tokens: 1 } }),
      ],
      [
        'an id given twice',
        'messages[1].message_id',
        (one) => withMessage(one, 1, { message_id: one.messages[0]?.message_id }),
      ],
      [
        'a message after the last activity',
        'messages[0].created_at',
        (one) => withMessage(one, 0, { created_at: '2999-01-01T00:00:00.000Z' }),
      ],
    ];
    it.each(faults)(
      'a record with %s is refused with the name of the field, and nothing is stored',
      async (_, field, spoil) => {
        const given = renamed(await talk(), 'ses_spoiled');
        const error = await failureOf(backend.archive.importSession(first, spoil(given) as SessionRecord));
        expect(error.code).toBe('INVALID_REQUEST');
        expect(error.details.map((detail) => detail.field)).toContain(field);
        expect((await backend.archive.listSessions(first, everySession)).data.items).toHaveLength(1);
      },
    );

    function withMessage({ session, messages }: SessionRecord, at: number, change: object): unknown {
      return {
        session,
        messages: messages.map((one, place) => (place === at ? { ...one, ...change } : one)),
      };
    }
  });
}
