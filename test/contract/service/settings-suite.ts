// The settings of a session: what is stored and shown, what changes them, and what is refused.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/service/backend.ts';
import type { Call } from '../../../src/service/call.ts';
import type { ChatRequest } from '../../../src/service/chat-event.ts';
import { defaultLimits } from '../../../src/service/limits.ts';
import type { Session, SessionSettings } from '../../../src/service/session.ts';
import type { SessionChanges } from '../../../src/service/session-archive.ts';
import { collect, failureOf, say } from '../../support/calls.ts';
import { bareSession, create, everySession, type GivenService, messagesOf } from './service-fixture.ts';

const settings: SessionSettings = {
  system: 'Answer in French.\nAlways. 🙂',
  parameters: { temperature: 0.2, max_tokens: 50, stop: ['END'], response_format: { type: 'json_object' } },
};
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

/** Settings that are refused, and the field that the refusal names. */
const refused: readonly [string, object, string][] = [
  ['an empty system prompt', { system: ' \n' }, 'system'],
  ['a system prompt that is too long', { system: 'é'.repeat(defaultLimits.systemBytes / 2 + 1) }, 'system'],
  ['NUL in a system prompt', { system: 'a\0b' }, 'system'],
  ['half a surrogate pair', { system: 'a\ud800' }, 'system'],
  ['a parameter that the service sets itself', { parameters: { messages: [] } }, 'parameters.messages'],
  ['another model', { parameters: { model: 'other' } }, 'parameters.model'],
  ['a key', { parameters: { extra_headers: { api_key: 'x' } } }, 'parameters.extra_headers.api_key'],
  ['no number of tokens', { parameters: { max_tokens: 0 } }, 'parameters.max_tokens'],
  ['a temperature that is none', { parameters: { temperature: '1' } }, 'parameters.temperature'],
  ['NUL in parameters', { parameters: { stop: ['a\0'] } }, 'parameters.stop.0'],
  ['parameters that are too deep', { parameters: { a: nested(33) } }, 'parameters.a.a'],
  [
    'parameters that are too long',
    { parameters: { a: 'x'.repeat(defaultLimits.parametersBytes) } },
    'parameters',
  ],
];

export function describeSettings(given: GivenService): void {
  describe('settings of sessions', () => {
    let backend: Backend;
    let first: Call;
    let second: Call;
    beforeEach(() => {
      ({ backend, first, second } = given());
    });

    const get = async (id: string) => (await backend.service.getSession(first, id)).data;
    const chat = (request: Partial<ChatRequest>) =>
      collect(
        backend.service.chat(first, { mode: 'echo', message: 'hi', session_id: null, ...request }, 'whole'),
      );
    const list = async () => (await backend.archive.listSessions(first, everySession)).data.items;

    it('are empty in a session that was given none, and its mode is that of its last turn', async () => {
      const { session_id } = await create(backend, first);
      expect(await get(session_id)).toMatchObject(bareSession);
      await say(backend.service, first, 'hi', session_id, 'eliza');
      expect(await get(session_id)).toMatchObject({ ...bareSession, mode: 'eliza' });
      await say(backend.service, first, 'hi', session_id, 'echo');
      expect(await get(session_id)).toMatchObject({ ...bareSession, mode: 'echo' });
    });

    it('have the mode, in which a chat without one goes on', async () => {
      const { session_id } = await say(backend.service, first, 'My name is Ada.', null, 'eliza');
      expect(await say(backend.service, first, 'hi', session_id, null)).toMatchObject({ mode: 'eliza' });
      await say(backend.service, first, 'hi', session_id, 'echo');
      const [begun, ...others] = await chat({ session_id, mode: null });
      expect(begun).toMatchObject({ event: 'session', data: { session_id, mode: 'echo' } });
      expect(others.at(-1)).toMatchObject({ event: 'done', data: { mode: 'echo', reply: 'hi' } });
      expect((await get(session_id)).message_count).toBe(8);
    });

    it('are not asked for by the repetition of a chat without a mode, which may name the mode, too', async () => {
      const { session_id } = await say(backend.service, first, 'hello', null, 'eliza');
      const call = { ...first, idempotencyKey: 'without-mode' };
      const reply = await say(backend.service, call, 'My name is Ada.', session_id, null);
      await say(backend.service, first, 'hi', session_id, 'echo');
      // The mode of the session is another one by now.
      for (const mode of [null, 'eliza'] as const)
        expect(await say(backend.service, call, 'My name is Ada.', session_id, mode)).toEqual(reply);
      const other = say(backend.service, call, 'My name is Ada.', session_id, 'echo');
      expect((await failureOf(other)).code).toBe('IDEMPOTENCY_MISMATCH');
      expect((await get(session_id)).message_count).toBe(6);
    });

    it('have no mode before the first turn: a chat without one is refused, and keeps nothing', async () => {
      const { session_id } = await create(backend, first);
      for (const id of [session_id, null]) {
        const failure = await failureOf(chat({ session_id: id, mode: null }));
        expect(failure).toMatchObject({ code: 'INVALID_REQUEST', details: [{ field: 'mode' }] });
      }
      expect(await list()).toEqual([await get(session_id)]);
      expect(await messagesOf(backend, first, session_id)).toEqual([]);
      const elsewhere = await failureOf(
        collect(backend.service.chat(second, { mode: null, message: 'hi', session_id }, 'whole')),
      );
      expect(elsewhere.code).toBe('SESSION_NOT_FOUND');
    });

    it('stay with a created session, which answers with its four fields alone', async () => {
      const { data } = await backend.service.createSession(first, { title: 'T', ...settings });
      expect(Object.keys(data).sort()).toEqual(['created_at', 'message_count', 'session_id', 'title']);
      const shown = { ...data, updated_at: data.created_at, ...bareSession, ...settings };
      expect(await get(data.session_id)).toEqual(shown);
      expect(await list()).toEqual([shown]);
      await say(backend.service, first, 'needle', data.session_id);
      const expected = { ...bareSession, ...settings, mode: 'echo' };
      const found = await backend.archive.searchSessions(first, { query: 'needle', limit: 5, cursor: null });
      expect(found.data.items[0]?.session).toMatchObject(expected);
      await backend.service.deleteSession(first, data.session_id);
      const { data: restored } = await backend.archive.restoreSession(first, data.session_id);
      expect(restored).toMatchObject(expected);
    });

    it('stay with the session that a chat creates', async () => {
      const done = (await chat({ ...settings, title: 'T' })).at(-1);
      if (done?.event !== 'done') throw new Error('the chat did not end');
      const shown = { title: 'T', ...bareSession, ...settings, mode: 'echo' };
      expect(await get(done.data.session_id)).toMatchObject(shown);
      expect((await messagesOf(backend, first, done.data.session_id)).map(({ content }) => content)).toEqual([
        ...['hi', 'hi'],
      ]);
    });

    it('are for a new session: a chat in another one refuses them, and keeps nothing', async () => {
      const { session_id } = await create(backend, first);
      for (const [name, value] of Object.entries(settings)) {
        const failure = await failureOf(chat({ session_id, [name]: value }));
        expect(failure.code).toBe('INVALID_REQUEST');
        expect(failure.details[0]?.field).toBe(name);
      }
      expect(await messagesOf(backend, first, session_id)).toEqual([]);
    });

    it('change field by field, which is no activity, and in no other project', async () => {
      const { session_id } = await create(backend, first, 'T');
      const before = await get(session_id);
      let now: Session = before;
      const steps: SessionChanges[] = [
        { system: 'Be brief.' },
        { parameters: { seed: 1, top_p: 0.5 } },
        { title: 'U', parameters: { seed: 2 } },
        { system: settings.system, title: null },
        { system: null, parameters: {} },
      ];
      for (const changes of steps) {
        now = { ...now, ...changes };
        expect((await backend.archive.changeSession(first, session_id, changes)).data).toEqual(now);
        expect(await get(session_id)).toEqual(now);
      }
      expect(now).toEqual({ ...before, title: null });
      const failure = await failureOf(backend.archive.changeSession(second, session_id, { system: 'x' }));
      expect(failure.code).toBe('SESSION_NOT_FOUND');
      expect((await failureOf(backend.archive.changeSession(first, session_id, {}))).code).toBe(
        'INVALID_REQUEST',
      );
    });

    it.each(refused)('refuse %s, wherever it is given', async (_, wrong, field) => {
      const { session_id } = await create(backend, first);
      for (const work of [
        () => backend.service.createSession(first, { title: null, ...wrong }),
        () => chat(wrong),
        () => backend.archive.changeSession(first, session_id, { title: 'new', ...wrong }),
      ]) {
        const failure = await failureOf(work());
        expect(failure.code).toBe('INVALID_REQUEST');
        expect(failure.details[0]?.field.slice(0, field.length)).toBe(field);
      }
      expect(await list()).toEqual([await get(session_id)]);
      expect(await get(session_id)).toMatchObject({ title: null, ...bareSession });
    });

    it('take the longest that is allowed', async () => {
      const longest = {
        system: '"'.repeat(defaultLimits.systemBytes),
        parameters: { deep: nested(31), list: Array(7000).fill(0) },
      };
      const { data } = await backend.service.createSession(first, { title: null, ...longest });
      expect(await get(data.session_id)).toMatchObject(longest);
      const changed = await backend.archive.changeSession(first, data.session_id, longest);
      expect(changed.data).toMatchObject(longest);
    });

    it('are a part of the request that an idempotency key names', async () => {
      const call = { ...first, idempotencyKey: 'settings' };
      const request = { title: 'T', ...settings };
      const { data } = await backend.service.createSession(call, request);
      const reordered = { ...settings.parameters };
      const same = { ...request, parameters: Object.fromEntries(Object.entries(reordered).reverse()) };
      expect((await backend.service.createSession(call, same)).data).toEqual(data);
      const failure = await failureOf(backend.service.createSession(call, { ...request, system: 'Other.' }));
      expect(failure.code).toBe('IDEMPOTENCY_MISMATCH');
    });

    it('are exported and imported, and an import of another project’s session has them, too', async () => {
      const { session_id } = (await backend.service.createSession(first, { title: 'T', ...settings })).data;
      await say(backend.service, first, 'hi', session_id);
      const record = {
        session: { ...(await get(session_id)), parent_id: 'ses_parent', forked_at: 3 },
        messages: await messagesOf(backend, first, session_id),
      };
      const imported = (await backend.archive.importSession(second, record)).data;
      expect(imported).toEqual(record.session);
      expect((await backend.archive.importSession(second, record)).data).toEqual(imported);
      expect((await backend.service.getSession(second, session_id)).data).toEqual(imported);
      const other = { ...record, session: { ...record.session, system: 'Other.' } };
      expect((await failureOf(backend.archive.importSession(second, other))).details).toEqual([
        { field: 'session.session_id', problem: 'is taken' },
      ]);
    });

    it('may be missing in an import, or empty: the mode is then that of the last message', async () => {
      const { session_id } = await create(backend, first);
      await say(backend.service, first, 'hi', session_id, 'eliza');
      const { mode: _, system, parameters, parent_id, forked_at, ...facts } = await get(session_id);
      const messages = await messagesOf(backend, first, session_id);
      const expected = { ...facts, ...bareSession, mode: 'eliza' };
      for (const session of [facts, { ...facts, ...bareSession }]) {
        for (let times = 0; times < 2; times += 1)
          expect((await backend.archive.importSession(second, { session, messages })).data).toEqual(expected);
      }
    });

    it.each<[string, unknown]>([
      ['system', ''],
      ['system', 7],
      ['mode', 'a\nb'],
      ['mode', {}],
      ['parameters', []],
      ['parameters', { model: 'x' }],
      ['parent_id', 'other'],
      ['forked_at', -1],
      ['forked_at', '1'],
      ['forked_at', 2 ** 31],
    ])('refuse an import whose %s is %j, with its place', async (name, value) => {
      const { session_id } = await create(backend, first);
      const session = { ...(await get(session_id)), session_id: 'ses_wrong', [name]: value };
      const failure = await failureOf(backend.archive.importSession(first, { session, messages: [] }));
      expect(failure.code).toBe('INVALID_REQUEST');
      expect(failure.details[0]?.field).toMatch(new RegExp(`^session\\.${name}`));
    });
  });
}
