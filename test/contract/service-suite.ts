// What every home of the API must do, whichever it is: this process, or a server. The suite knows only the contracts, and the
// two modes that need no model.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failureBody } from '../../src/service/answer.ts';
import type { Call } from '../../src/service/call.ts';
import type { ParleyError } from '../../src/service/errors.ts';
import type { Home } from '../../src/service/home.ts';
import { isSessionId, type Message, type Session } from '../../src/service/session.ts';
import {
  lastActiveFirst,
  type SearchPage,
  type SessionOrder,
  type SessionQuery,
  type SessionRecord,
} from '../../src/service/session-archive.ts';
import { callWith, collect, failureOf, say } from '../support/calls.ts';

/** A home with two projects, a key to each, and a third key that was revoked. */
export interface ServiceFixture {
  readonly home: Home;
  readonly firstKey: string;
  readonly secondKey: string;
  readonly revokedKey: string;
  close(): Promise<void>;
}

const isoMilliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const everySession: SessionQuery = {
  limit: 200,
  cursor: null,
  title_match: null,
  updated_before: null,
  updated_after: null,
  deleted: false,
  ...lastActiveFirst,
};

const orders: readonly SessionOrder[] = (['updated', 'created'] as const).flatMap((sort) =>
  (['desc', 'asc'] as const).map((order) => ({ sort, order })),
);

const emptyRecord: SessionRecord = {
  session: {
    session_id: 'ses_imported',
    title: null,
    created_at: '2024-05-01T12:00:00.000Z',
    updated_at: '2024-05-01T12:00:00.000Z',
    message_count: 0,
  },
  messages: [],
};

/** A refusal as the client gets it, less what names the one call. */
function answerTo(error: ParleyError): string {
  return JSON.stringify({ ...(failureBody(error, null) as object), request_id: undefined });
}

export function describeService(name: string, open: () => Promise<ServiceFixture>): void {
  describe(`the API, ${name}`, () => {
    let fixture: ServiceFixture;
    let home: Home;
    let first: Call;
    let second: Call;

    beforeEach(async () => {
      fixture = await open();
      home = fixture.home;
      first = callWith(fixture.firstKey);
      second = callWith(fixture.secondKey);
    });
    afterEach(() => fixture.close());

    async function messagesOf(call: Call, sessionId: string): Promise<readonly Message[]> {
      return (await home.archive.listMessages(call, sessionId, { limit: 200, cursor: null })).data.items;
    }

    const create = async (call: Call, title: string | null = null) =>
      (await home.service.createSession(call, { title })).data;

    /** Every operation that needs a key, with arguments that would succeed. */
    const operations = (call: Call, id: string): Record<string, () => Promise<unknown>> => ({
      verify: () => home.service.verify(call),
      models: () => home.service.models(call),
      chat: () =>
        collect(home.service.chat(call, { mode: 'echo', message: 'hello', session_id: id }, 'pieces')),
      createSession: () => home.service.createSession(call, { title: null }),
      getSession: () => home.service.getSession(call, id),
      deleteSession: () => home.service.deleteSession(call, id),
      listSessions: () => home.archive.listSessions(call, everySession),
      searchSessions: () => home.archive.searchSessions(call, { query: 'word', limit: 50, cursor: null }),
      listMessages: () => home.archive.listMessages(call, id, { limit: 50, cursor: null }),
      renameSession: () => home.archive.renameSession(call, id, 'renamed'),
      restoreSession: () => home.archive.restoreSession(call, id),
      deleteSessions: () => home.archive.deleteSessions(call, [id]),
      restoreSessions: () => home.archive.restoreSessions(call, [id]),
      importSession: () => home.archive.importSession(call, emptyRecord),
    });

    describe('keys', () => {
      it('a key resolves to its project', async () => {
        const { data, body } = await home.service.verify(first);
        expect(data.project_name).toBe('first');
        expect(data.created_at).toMatch(isoMilliseconds);
        expect(Object.keys(data).sort()).toEqual([
          'created_at',
          'key_id',
          'key_name',
          'project_id',
          'project_name',
        ]);
        expect(body).toEqual({ success: true, data });
        expect((await home.service.verify(second)).data.project_id).not.toBe(data.project_id);
      });

      it('absent, malformed, unknown and revoked keys get one identical answer from every operation', async () => {
        const { session_id } = await create(first);
        const mistyped = fixture.firstKey.slice(0, -1) + (fixture.firstKey.endsWith('x') ? 'y' : 'x');
        const answers = new Set<string>();
        for (const key of ['', 'no-key', mistyped, fixture.revokedKey]) {
          for (const operation of Object.values(operations(callWith(key), session_id))) {
            const error = await failureOf(operation());
            expect(error.code).toBe('INVALID_API_KEY');
            answers.add(answerTo(error));
          }
        }
        expect(answers.size).toBe(1);
        expect((await home.service.getSession(first, session_id)).data.message_count).toBe(0);
      });

      it('an unauthenticated request is refused for its key before anything else in it is looked at', async () => {
        const bad = callWith('no-key');
        const chat = home.service.chat(
          bad,
          { mode: 'no-mode', message: '', session_id: 'ses_none' },
          'pieces',
        );
        expect((await failureOf(collect(chat))).code).toBe('INVALID_API_KEY');
      });
    });

    describe('modes', () => {
      it('models lists the modes, one of them the default', async () => {
        const { data, body } = await home.service.models(first);
        expect(body).toEqual({ success: true, data });
        expect(data.map(({ name }) => name)).toEqual(['eliza', 'echo']);
        expect(data.filter((mode) => mode.default).map(({ name }) => name)).toEqual(['eliza']);
        for (const mode of data) {
          expect(Object.keys(mode).sort()).toEqual(['default', 'description', 'engine', 'model', 'name']);
        }
      });
    });

    describe('sessions', () => {
      it('a created session has the four fields of the interface document, and no messages', async () => {
        const { data, body } = await home.service.createSession(first, { title: 'Plans' });
        expect(Object.keys(data).sort()).toEqual(['created_at', 'message_count', 'session_id', 'title']);
        expect(data).toMatchObject({ title: 'Plans', message_count: 0 });
        expect(data.created_at).toMatch(isoMilliseconds);
        expect(isSessionId(data.session_id)).toBe(true);
        expect(data.session_id).toMatch(/^ses_/);
        expect(body).toEqual({ success: true, data });
      });

      it('a session created without a title has none', async () => {
        expect((await create(first)).title).toBeNull();
      });

      it('get returns what create returned, and the last activity', async () => {
        const created = await create(first, 'Plans');
        const { data, body } = await home.service.getSession(first, created.session_id);
        expect(data).toEqual({ ...created, updated_at: created.created_at });
        expect(body).toEqual({ success: true, data });
      });

      it.each([
        ['empty', ''],
        ['white space alone', ' \u3000 '],
        ['a line break', 'a\nb'],
        ['a control character', 'a\u001bb'],
        ['a C1 control character', 'a\u009bb'],
        ['a NUL', 'a\0b'],
        ['half of a surrogate pair', 'a\ud800b'],
        ['201 characters', 'x'.repeat(201)],
      ])('a title that is %s is refused, and nothing is kept', async (_, title) => {
        const error = await failureOf(home.service.createSession(first, { title }));
        expect(error.code).toBe('INVALID_REQUEST');
        expect(error.details[0]?.field).toBe('title');
        expect((await home.archive.listSessions(first, everySession)).data.items).toEqual([]);
      });

      it('the length of a title counts code points, not UTF-16 units', async () => {
        const title = '😀'.repeat(200);
        expect((await create(first, title)).title).toBe(title);
      });

      it('a deleted session is gone for get, chat and delete, as if it had never been', async () => {
        const { session_id } = await create(first);
        const { data, body } = await home.service.deleteSession(first, session_id);
        expect(data.session_id).toBe(session_id);
        expect(data.deleted_at).toMatch(isoMilliseconds);
        expect(body).toEqual({ success: true, data });
        for (const operation of ['getSession', 'chat', 'deleteSession'] as const) {
          const error = await failureOf(operations(first, session_id)[operation]?.() ?? Promise.resolve());
          expect(error.code).toBe('SESSION_NOT_FOUND');
        }
      });

      it('never existed, deleted, and another project’s: the three refusals are identical to the byte', async () => {
        const theirs = (await create(first)).session_id;
        const deleted = (await create(second)).session_id;
        await home.service.deleteSession(second, deleted);
        const answers = new Set<string>();
        for (const id of [theirs, deleted, 'ses_never', 'x', '%2e', 'ses_🙂', "' OR 1=1 --", 'a/b?c#d']) {
          for (const operation of ['getSession', 'chat', 'deleteSession', 'listMessages', 'renameSession']) {
            const error = await failureOf(operations(second, id)[operation]?.() ?? Promise.resolve());
            expect(error.code).toBe('SESSION_NOT_FOUND');
            answers.add(answerTo(error));
          }
        }
        expect(answers.size).toBe(1);
        expect((await home.service.getSession(first, theirs)).data.message_count).toBe(0);
      });
    });

    describe('chat', () => {
      it('a chat without a session starts one, and streams session, deltas, done', async () => {
        const message = 'hello there, 😀 world';
        const events = await collect(
          home.service.chat(first, { mode: 'echo', message, session_id: null }, 'pieces'),
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
        const { turns_left_out, ...told } = done.data;
        expect(turns_left_out).toBe(0);
        expect(done.body).toEqual({ success: true, data: told });
      });

      it('the messages of a turn are kept, in order, with their ids', async () => {
        const reply = await say(home.service, first, 'one');
        await say(home.service, first, 'two', reply.session_id);
        const messages = await messagesOf(first, reply.session_id);
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
        expect((await home.service.getSession(first, reply.session_id)).data.message_count).toBe(4);
      });

      it('context carries over from turn to turn', async () => {
        const { session_id } = await say(home.service, first, 'My name is Ada.', null, 'eliza');
        const reply = await say(home.service, first, 'What is my name?', session_id, 'eliza');
        expect(reply.reply).toContain('Ada');
        const elsewhere = await say(home.service, first, 'What is my name?', null, 'eliza');
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
        const { session_id } = await say(home.service, first, message);
        expect((await home.service.getSession(first, session_id)).data.title).toBe(title);
      });

      it('text comes back as it was sent', async () => {
        const { session_id } = await create(first);
        const texts = [
          'a\r\nb\n',
          '\ufeffbom',
          'e\u0301 é 😀 👩‍👩‍👧 日本語 \u202eabc',
          '\u001b]52;c;eA==\u0007',
          '  padded  \n',
        ];
        for (const text of texts) expect((await say(home.service, first, text, session_id)).reply).toBe(text);
        const kept = await messagesOf(first, session_id);
        expect(kept.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(texts);
      });

      it('a message of exactly the limit is taken, one byte more is refused with both sizes', async () => {
        const limit = 1024 * 1024;
        for (const size of [limit - 1, limit]) {
          const reply = await say(home.service, first, `${'é'.repeat(100)}${'x'.repeat(size - 200)}`);
          expect(Buffer.byteLength(reply.reply)).toBe(size);
        }
        const error = await failureOf(say(home.service, first, 'x'.repeat(limit + 1)));
        expect(error.code).toBe('PAYLOAD_TOO_LARGE');
        expect(error.message).toContain(String(limit));
        expect(error.message).toContain(String(limit + 1));
        expect((await home.archive.listSessions(first, everySession)).data.items).toHaveLength(2);
      });

      it.each([
        ['empty', ''],
        ['white space alone', ' \n\t\u3000'],
        ['with a NUL', 'a\0b'],
        ['with half of a surrogate pair', 'a\udc00'],
      ])('a message that is %s is refused, and nothing is kept', async (_, message) => {
        const error = await failureOf(say(home.service, first, message));
        expect(error.code).toBe('INVALID_REQUEST');
        expect(error.details[0]?.field).toBe('message');
        expect((await home.archive.listSessions(first, everySession)).data.items).toEqual([]);
      });

      it('an unknown mode is refused with the modes there are, and nothing is kept', async () => {
        const error = await failureOf(say(home.service, first, 'hello', null, 'oracle'));
        expect(error.code).toBe('UNKNOWN_MODE');
        expect(`${error.message} ${error.hint}`).toMatch(/oracle.*eliza.*echo/s);
        expect((await home.archive.listSessions(first, everySession)).data.items).toEqual([]);
      });

      it('an unknown mode with a name of any length is told by its beginning', async () => {
        const error = await failureOf(
          say(home.service, first, 'hello', null, `${'\u{1f600}'.repeat(70)}end`),
        );
        expect(error.code).toBe('UNKNOWN_MODE');
        expect(error.message).toContain(`There is no mode "${'\u{1f600}'.repeat(64)}…".`);
      });

      it('a wrong request is refused before its session is looked for', async () => {
        expect((await failureOf(say(home.service, first, '', 'ses_never'))).code).toBe('INVALID_REQUEST');
        expect((await failureOf(say(home.service, first, 'x', 'ses_never', 'oracle'))).code).toBe(
          'UNKNOWN_MODE',
        );
      });

      it('turns of one session never interleave', async () => {
        const { session_id } = await create(first);
        const texts = Array.from({ length: 8 }, (_, index) => `message ${index}`);
        await Promise.all(texts.map((text) => say(home.service, first, text, session_id)));
        const messages = await messagesOf(first, session_id);
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
      const keyed = (call: Call, idempotencyKey: string): Call => ({ ...call, idempotencyKey });

      it('a repeated chat gets the same answer and adds nothing', async () => {
        const call = keyed(first, 'turn-1');
        const reply = await say(home.service, call, 'once');
        expect(await say(home.service, call, 'once')).toEqual(reply);
        expect(await messagesOf(first, reply.session_id)).toHaveLength(2);
        expect((await home.archive.listSessions(first, everySession)).data.items).toHaveLength(1);
      });

      it('a repeated creation gets the same session, also after it was renamed', async () => {
        const call = keyed(first, 'create-1');
        const created = await create(call, 'Plans');
        await home.archive.renameSession(first, created.session_id, 'Other plans');
        expect(await create(call, 'Plans')).toEqual(created);
      });

      it('the same key with another request is a mismatch, and changes nothing', async () => {
        const call = keyed(first, 'k');
        const { session_id } = await say(home.service, call, 'one');
        expect((await failureOf(say(home.service, call, 'two'))).code).toBe('IDEMPOTENCY_MISMATCH');
        expect((await failureOf(create(call))).code).toBe('IDEMPOTENCY_MISMATCH');
        expect(await messagesOf(first, session_id)).toHaveLength(2);
      });

      it('a key belongs to its project', async () => {
        const mine = await say(home.service, keyed(first, 'k'), 'one');
        const theirs = await say(home.service, keyed(second, 'k'), 'another');
        expect(theirs.session_id).not.toBe(mine.session_id);
      });

      it('a repeated batch deletion answers as the first did', async () => {
        const { session_id } = await create(first);
        const call = keyed(first, 'batch');
        const once = await home.archive.deleteSessions(call, [session_id, 'ses_never']);
        expect(once.data.items).toEqual([
          { session_id, status: 'deleted' },
          { session_id: 'ses_never', status: 'not_found' },
        ]);
        expect((await home.archive.deleteSessions(call, [session_id, 'ses_never'])).data).toEqual(once.data);
      });

      it.each(['', ' ', 'a b', 'é', 'x'.repeat(256)])('the key %j is refused', async (key) => {
        expect((await failureOf(say(home.service, keyed(first, key), 'one'))).code).toBe('INVALID_REQUEST');
      });
    });

    describe('the archive', () => {
      it('lists by last activity, the newest first, each session once over all pages', async () => {
        const ids: string[] = [];
        for (let count = 0; count < 7; count++) ids.push((await create(first, `s${count}`)).session_id);
        await say(home.service, first, 'again', ids[2] ?? '');
        const seen: Session[] = [];
        let cursor: string | null = null;
        do {
          const page: { items: readonly Session[]; next_cursor: string | null } = (
            await home.archive.listSessions(first, { ...everySession, limit: 3, cursor })
          ).data;
          seen.push(...page.items);
          cursor = page.next_cursor;
        } while (cursor !== null);
        expect(seen[0]?.session_id).toBe(ids[2]);
        expect(new Set(seen.map(({ session_id }) => session_id))).toEqual(new Set(ids));
        expect(seen).toHaveLength(7);
        const activity = seen.map(({ updated_at }) => updated_at);
        expect(activity).toEqual([...activity].sort().reverse());
      });

      it.each(orders)('lists by $sort, $order, over several pages, active or deleted', async (way) => {
        const minute = (number: number) => new Date(Date.UTC(2024, 4, 1, 12, number)).toISOString();
        // Made two at a time, and active two at a time; the later made, the earlier active.
        const sessions = [3, 0, 6, 1, 5, 2, 4, 7].map((number) => ({
          session_id: `ses_sorted_${number}`,
          title: null,
          created_at: minute(Math.floor(number / 2)),
          updated_at: minute(30 - Math.floor((number + 1) / 2)),
          message_count: 0,
        }));
        for (const session of sessions) {
          await home.archive.importSession(first, { session, messages: [] });
        }
        const time = (session: Session) => session[`${way.sort}_at`];
        const upwards = [...sessions].sort((one, other) =>
          `${time(one)} ${one.session_id}` < `${time(other)} ${other.session_id}` ? -1 : 1,
        );
        const expected = way.order === 'asc' ? upwards : upwards.reverse();
        const list = async (deleted: boolean) => {
          const pages: (readonly Session[])[] = [];
          for (let cursor: string | null = null; pages.length === 0 || cursor !== null; ) {
            const query: SessionQuery = { ...everySession, ...way, deleted, limit: 3, cursor };
            const { data } = await home.archive.listSessions(first, query);
            pages.push(data.items);
            cursor = data.next_cursor;
          }
          return pages;
        };
        expect(await list(false)).toEqual([expected.slice(0, 3), expected.slice(3, 6), expected.slice(6)]);
        expect(await list(true)).toEqual([[]]);
        const gone = sessions.slice(0, 4).map(({ session_id }) => session_id);
        await home.archive.deleteSessions(first, gone);
        const deleted = expected.filter(({ session_id }) => gone.includes(session_id));
        expect(await list(true)).toEqual([deleted.slice(0, 3), deleted.slice(3)]);
        expect((await list(false)).flat()).toEqual(expected.filter((session) => !deleted.includes(session)));
      });

      it('filters by last activity what it lists by creation', async () => {
        const old = await create(first, 'old');
        await create(first, 'young');
        await say(home.service, first, 'again', old.session_id);
        const { updated_at } = (await home.service.getSession(first, old.session_id)).data;
        const list = async (query: Partial<SessionQuery>) =>
          (
            await home.archive.listSessions(first, { ...everySession, sort: 'created', ...query })
          ).data.items.map(({ title }) => title);
        expect(await list({ order: 'asc' })).toEqual(['old', 'young']);
        expect(await list({ order: 'desc' })).toEqual(['young', 'old']);
        expect(await list({ order: 'asc', updated_after: updated_at })).toContain('old');
        expect(await list({ order: 'asc', updated_before: updated_at })).not.toContain('old');
        expect(await list({ updated_before: updated_at })).not.toContain('old');
      });

      it('refuses the cursor of another sort or order', async () => {
        for (let count = 0; count < 2; count++) await create(first);
        for (const given of orders) {
          const query = { ...everySession, ...given, limit: 1 };
          const { next_cursor: cursor } = (await home.archive.listSessions(first, query)).data;
          for (const asked of orders.filter((one) => one !== given)) {
            const error = await failureOf(home.archive.listSessions(first, { ...query, ...asked, cursor }));
            expect([error.code, error.details[0]?.field]).toEqual(['INVALID_REQUEST', 'cursor']);
          }
          expect((await home.archive.listSessions(first, { ...query, cursor })).data.items).toHaveLength(1);
        }
      });

      it('filters by title and by last activity', async () => {
        const plan = await create(first, 'plan A');
        await create(first, 'note');
        const list = async (query: Partial<SessionQuery>) =>
          (await home.archive.listSessions(first, { ...everySession, ...query })).data.items.map(
            ({ title }) => title,
          );
        expect(await list({ title_match: 'plan*' })).toEqual(['plan A']);
        expect(await list({ title_match: '%' })).toEqual([]);
        expect(await list({ updated_before: plan.created_at })).toEqual([]);
        expect((await list({ updated_after: plan.created_at })).sort()).toEqual(['note', 'plan A']);
        const error = await failureOf(list({ updated_before: 'yesterday' }));
        expect(error.details[0]?.field).toBe('updated_before');
      });

      it('lists the deleted apart from the active', async () => {
        const kept = await create(first);
        const gone = await create(first);
        await home.service.deleteSession(first, gone.session_id);
        const ids = async (deleted: boolean) =>
          (await home.archive.listSessions(first, { ...everySession, deleted })).data.items.map(
            ({ session_id }) => session_id,
          );
        expect(await ids(false)).toEqual([kept.session_id]);
        expect(await ids(true)).toEqual([gone.session_id]);
      });

      it('messages come in pages by position', async () => {
        const { session_id } = await create(first);
        for (const text of ['a', 'b', 'c']) await say(home.service, first, text, session_id);
        const one = (await home.archive.listMessages(first, session_id, { limit: 4, cursor: null })).data;
        expect(one.items.map(({ position }) => position)).toEqual([0, 1, 2, 3]);
        const two = (
          await home.archive.listMessages(first, session_id, { limit: 4, cursor: one.next_cursor })
        ).data;
        expect(two.items.map(({ position }) => position)).toEqual([4, 5]);
        expect(two.next_cursor).toBeNull();
      });

      it.each([0, -1, 201, 1.5])('a page of %d items is refused', async (limit) => {
        const list = home.archive.listSessions(first, { ...everySession, limit });
        expect((await failureOf(list)).details[0]?.field).toBe('limit');
      });

      it('a cursor that was never given out is refused', async () => {
        const list = home.archive.listSessions(first, { ...everySession, cursor: 'bogus' });
        expect((await failureOf(list)).code).toBe('INVALID_REQUEST');
      });

      it('renaming changes the title alone', async () => {
        const created = await create(first, 'old');
        const { data } = await home.archive.renameSession(first, created.session_id, 'new');
        expect(data).toEqual({ ...created, title: 'new', updated_at: created.created_at });
        expect((await failureOf(home.archive.renameSession(first, created.session_id, 'a\nb'))).code).toBe(
          'INVALID_REQUEST',
        );
        expect((await home.service.getSession(first, created.session_id)).data.title).toBe('new');
      });

      it('restoring brings a deleted session back with all that was said', async () => {
        const { session_id } = await say(home.service, first, 'precious');
        await home.service.deleteSession(first, session_id);
        const { data } = await home.archive.restoreSession(first, session_id);
        expect(data).toMatchObject({ session_id, message_count: 2 });
        expect((await messagesOf(first, session_id))[0]?.content).toBe('precious');
        expect((await home.archive.restoreSession(first, session_id)).data).toEqual(data);
      });

      it('a batch answers per id in the order given, and restoring undoes it', async () => {
        const a = (await create(first)).session_id;
        const b = (await create(first)).session_id;
        const theirs = (await create(second)).session_id;
        const ids = [b, 'ses_never', theirs, a, b];
        expect((await home.archive.deleteSessions(first, ids)).data.items).toEqual([
          { session_id: b, status: 'deleted' },
          { session_id: 'ses_never', status: 'not_found' },
          { session_id: theirs, status: 'not_found' },
          { session_id: a, status: 'deleted' },
          { session_id: b, status: 'not_found' },
        ]);
        const restored = (await home.archive.restoreSessions(first, [a, b, theirs])).data.items;
        expect(restored.map(({ status }) => status)).toEqual(['restored', 'restored', 'not_found']);
        expect((await home.service.getSession(first, a)).data.session_id).toBe(a);
        expect((await home.service.getSession(second, theirs)).data.session_id).toBe(theirs);
      });

      it('a batch of 1,000 ids is taken, of none or of 1,001 refused', async () => {
        const ids = Array.from({ length: 1001 }, (_, index) => `ses_${index}`);
        expect((await home.archive.deleteSessions(first, ids.slice(1))).data.items).toHaveLength(1000);
        for (const wrong of [[], ids]) {
          expect((await failureOf(home.archive.deleteSessions(first, wrong))).code).toBe('INVALID_REQUEST');
        }
      });
    });

    describe('searching', () => {
      const search = async (
        query: string,
        page: { limit?: number; cursor?: string | null } = {},
        call = first,
      ) => (await home.archive.searchSessions(call, { query, limit: 50, cursor: null, ...page })).data;
      const found = async (query: string) =>
        (await search(query)).items.flatMap(({ hits }) => hits.map(({ snippet }) => snippet)).sort();

      it('finds sessions with the place where the words stand', async () => {
        const { session_id } = await say(home.service, first, 'The quick brown fox jumps.');
        await say(home.service, first, 'A lazy dog.');
        const { data, body } = await home.archive.searchSessions(first, {
          query: 'fox',
          limit: 50,
          cursor: null,
        });
        expect(body).toEqual({ success: true, data });
        expect(data).toMatchObject({ next_cursor: null, newest_only: false });
        expect(data.items).toHaveLength(1);
        const [item] = data.items;
        expect(item?.session).toEqual((await home.service.getSession(first, session_id)).data);
        const messages = await messagesOf(first, session_id);
        expect(item?.hits.map(({ message_id }) => message_id).sort()).toEqual(
          messages.map(({ message_id }) => message_id).sort(),
        );
        expect(new Set(item?.hits.map(({ snippet }) => snippet))).toEqual(
          new Set(['The quick brown ⟦fox⟧ jumps.']),
        );
        expect(new Set(item?.hits.map(({ role }) => role))).toEqual(new Set(['user', 'assistant']));
      });

      it.each([
        ['lazy DOG', 'a lazy dog sleeps', '⟦lazy⟧ ⟦dog⟧'],
        ['"dog sleeps"', 'a lazy dog sleeps', '⟦dog sleeps⟧'],
        ['sle*', 'a lazy dog sleeps', '⟦sleeps⟧'],
        ['resume', 'my Résumé', '⟦Résumé⟧'],
        ['foo_bar', 'call foo_bar(x) here', '⟦foo_bar⟧(x)'],
        ['foo', 'call foo_bar(x) here', '⟦foo⟧_bar'],
        ['東京', '私は昨日東京タワーに行きました。', '昨日⟦東京⟧タワー'],
        ['茶', '毎日お茶', 'お⟦茶⟧'],
        ['東京 api', '東京の API です', '⟦東京⟧の ⟦API⟧'],
      ])('%s finds %s', async (query, message, snippet) => {
        await say(home.service, first, message);
        expect((await found(query))[0]).toContain(snippet);
      });

      it.each([
        ['cat', 'concatenate'],
        ['"sleeps dog"', 'a lazy dog sleeps'],
        ['dog cat', 'a lazy dog sleeps'],
        ['sleep', 'a lazy dog sleeps'],
        ['京東', '東京'],
        ['東京 zz', '東京の API です'],
      ])('%s does not find %s', async (query, message) => {
        await say(home.service, first, message);
        expect(await found(query)).toEqual([]);
      });

      it.each([
        'OR',
        'fox OR dog',
        'NOT fox',
        'fox NEAR dog',
        'content:fox zebra',
        '(fox) zebra',
        '^ zebra',
        'a"b"c',
        "fox' zebra",
      ])('no part of %j is an expression', async (query) => {
        await say(home.service, first, 'the fox and the dog');
        expect(await found(query)).toEqual([]);
      });

      it.each(['', '   ', '++', '"', 'fox "dog', '""', '*', 'x'.repeat(501), 'a\0b', 'a '.repeat(33)])(
        'the query %j is refused',
        async (query) => {
          const error = await failureOf(search(query));
          expect(error.code).toBe('INVALID_REQUEST');
          expect(error.details[0]?.field).toBe('q');
        },
      );

      it('what says it more, and shorter, comes first; then what is newer', async () => {
        const long = await say(home.service, first, `fox ${'and much else '.repeat(60)}`);
        const older = await say(home.service, first, 'one fox');
        const newer = await say(home.service, first, 'our fox');
        const most = await say(home.service, first, 'fox fox fox');
        const { items } = await search('fox');
        expect(items.map(({ session }) => session.session_id)).toEqual(
          [most, newer, older, long].map(({ session_id }) => session_id),
        );
        const scores = items.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((one, other) => other - one));
      });

      it('pages hold each session once, in the order of one page', async () => {
        for (let count = 0; count < 7; count++) {
          await say(home.service, first, `fox ${'fox '.repeat(count % 3)}number ${count}`);
        }
        const whole = (await search('fox')).items.map(({ session }) => session.session_id);
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const page: SearchPage = await search('fox', { limit: 3, cursor });
          seen.push(...page.items.map(({ session }) => session.session_id));
          cursor = page.next_cursor;
        } while (cursor !== null);
        expect(whole).toHaveLength(7);
        expect(seen).toEqual(whole);
        expect((await failureOf(search('fox', { cursor: 'bogus' }))).code).toBe('INVALID_REQUEST');
        expect((await failureOf(search('fox', { limit: 201 }))).details[0]?.field).toBe('limit');
      });

      it('a deleted session is not found until it is restored', async () => {
        const { session_id } = await say(home.service, first, 'a fox');
        await home.service.deleteSession(first, session_id);
        expect((await search('fox')).items).toEqual([]);
        await home.archive.restoreSession(first, session_id);
        expect((await search('fox')).items).toHaveLength(1);
      });

      it('another project’s messages are not found, and change no score', async () => {
        await say(home.service, first, 'a fox');
        const alone = await search('fox');
        for (const text of ['fox fox fox', 'a fox in a wood', 'no such word']) {
          await say(home.service, second, text);
        }
        expect(await search('fox')).toEqual(alone);
        expect((await search('wood')).items).toEqual([]);
      });
    });

    describe('importing', () => {
      const record = async (call: Call, sessionId: string): Promise<SessionRecord> => ({
        session: (await home.service.getSession(call, sessionId)).data,
        messages: await messagesOf(call, sessionId),
      });
      const talk = async () => {
        const { session_id } = await say(home.service, first, 'Hello fox 🦊');
        await say(home.service, first, 'and\r\nmore', session_id);
        return record(first, session_id);
      };
      const renamed = ({ session, messages }: SessionRecord, session_id: string): SessionRecord => ({
        session: { ...session, session_id },
        messages,
      });

      it('a session comes back as it was, and can be found and gone on with', async () => {
        const given = renamed(await talk(), 'ses_elsewhere');
        const { data, body } = await home.archive.importSession(first, given);
        expect(data).toEqual(given.session);
        expect(body).toEqual({ success: true, data });
        expect(await record(first, 'ses_elsewhere')).toEqual(given);
        const hits = await home.archive.searchSessions(first, { query: 'fox', limit: 9, cursor: null });
        expect(hits.data.items.map(({ session }) => session.session_id)).toContain('ses_elsewhere');
        expect((await say(home.service, first, 'on', 'ses_elsewhere')).message_count).toBe(6);
      });

      it('the code of a failure comes back with the reply that it ended', async () => {
        const given = renamed(await talk(), 'ses_failed');
        const messages = given.messages.map((message, at) =>
          at === 3 ? { ...message, finish_reason: 'error' as const, error_code: 'RATE_LIMITED' } : message,
        );
        const failed = { ...given, messages };
        await home.archive.importSession(first, failed);
        expect(await record(first, 'ses_failed')).toEqual(failed);
        // Again, and as a version before this one exported it.
        const { error_code: _, ...older } = messages[3] as Message;
        for (const again of [failed, { ...given, messages: [...messages.slice(0, 3), older as Message] }])
          expect((await home.archive.importSession(first, again)).data).toEqual(given.session);
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
          expect(await failureOf(home.archive.importSession(first, other))).toMatchObject({
            code: 'INVALID_REQUEST',
            details: [{ field: `messages[${at}].error_code` }],
          });
        }
      });

      it('one that is there and equal stays as it is', async () => {
        const given = await talk();
        expect((await home.archive.importSession(first, given)).data).toEqual(given.session);
        expect(await record(first, given.session.session_id)).toEqual(given);
      });

      it('an id that is taken otherwise is refused with one answer, and nothing changes', async () => {
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
          const error = await failureOf(home.archive.importSession(call, one));
          expect(error.code).toBe('INVALID_REQUEST');
          answers.add(answerTo(error));
        };
        await refused(first, changed);
        await refused(first, { ...given, session: { ...given.session, title: 'other' } });
        await refused(second, given);
        expect(await record(first, id)).toEqual(given);
        await home.service.deleteSession(first, id);
        await refused(first, given);
        expect(answers.size).toBe(1);
      });

      it('a message that has no reply yet is closed by the next chat', async () => {
        const { session, messages } = await talk();
        const given = {
          session: { ...session, session_id: 'ses_open', message_count: 3 },
          messages: messages.slice(0, 3),
        };
        await home.archive.importSession(first, given);
        expect(await record(first, 'ses_open')).toEqual(given);
        await say(home.service, first, 'next', 'ses_open');
        const after = await messagesOf(first, 'ses_open');
        expect(after.map(({ finish_reason }) => finish_reason)).toEqual([
          null,
          'stop',
          null,
          'interrupted',
          null,
          'stop',
        ]);
      });

      it('a repeated import with a key answers as the first did, another under it is a mismatch', async () => {
        const given = renamed(await talk(), 'ses_keyed');
        const call = { ...first, idempotencyKey: 'import-1' };
        const { data } = await home.archive.importSession(call, given);
        await home.archive.renameSession(first, 'ses_keyed', 'renamed');
        expect((await home.archive.importSession(call, given)).data).toEqual(data);
        const error = await failureOf(home.archive.importSession(call, emptyRecord));
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
        'a record with %s is refused by the name of its field, and nothing is kept',
        async (_, field, spoil) => {
          const given = renamed(await talk(), 'ses_spoiled');
          const error = await failureOf(home.archive.importSession(first, spoil(given) as SessionRecord));
          expect(error.code).toBe('INVALID_REQUEST');
          expect(error.details.map((detail) => detail.field)).toContain(field);
          expect((await home.archive.listSessions(first, everySession)).data.items).toHaveLength(1);
        },
      );

      function withMessage({ session, messages }: SessionRecord, at: number, change: object): unknown {
        return {
          session,
          messages: messages.map((one, place) => (place === at ? { ...one, ...change } : one)),
        };
      }
    });

    it('an aborted signal stops every operation that has not begun', async () => {
      const reason = new Error('stopped');
      const aborted: Call = { ...first, signal: AbortSignal.abort(reason) };
      await expect(say(home.service, aborted, 'unsaid')).rejects.toBe(reason);
      expect((await home.archive.listSessions(first, everySession)).data.items).toEqual([]);
    });
  });
}
