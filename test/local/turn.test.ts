// One turn with every outcome, over the real store: what is stored, and what its engine gets.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EngineContext } from '../../src/engine/reply-engine.ts';
import type { ChatEvent } from '../../src/service/chat-event.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { noSettings } from '../../src/service/session.ts';
import { anySession } from '../../src/service/session-archive.ts';
import type { SessionStore } from '../../src/store/session-store.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { engineOf, finish, openEmbedded } from '../support/embedded.ts';
import { request, storedMessages, TurnFixture } from './turn-fixture.ts';

let fixture: TurnFixture;
beforeEach(async () => {
  fixture = await TurnFixture.create();
});
afterEach(() => fixture.close());

describe('a turn', () => {
  it('stores its message before the engine is asked', async () => {
    let seen: unknown;
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* () {
        const other = await openEmbedded(fixture.path);
        const { data } = await other.archive.listSessions(callWith(key), {
          ...anySession,
          limit: 1,
          cursor: null,
        });
        seen = await storedMessages(other, key, data.items[0]?.session_id ?? '');
        await other.close();
        yield finish;
      }),
    });
    await collect(backend.service.chat(callWith(key), request('hello'), 'chunks'));
    expect(seen).toEqual([['user', 'hello', null]]);
  });

  it('stores its reply before done is sent', async () => {
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* () {
        yield { type: 'text', text: 'whole' };
        yield { type: 'finish', reason: 'length', usage: { input_tokens: 3, output_tokens: 1 } };
      }),
    });
    for await (const event of backend.service.chat(callWith(key), request('hello'), 'chunks')) {
      if (event.event !== 'done') continue;
      expect(event.data).toMatchObject({
        finish_reason: 'length',
        usage: { input_tokens: 3, output_tokens: 1 },
      });
      const other = await openEmbedded(fixture.path);
      expect(await storedMessages(other, key, event.data.session_id)).toEqual([
        ['user', 'hello', null],
        ['assistant', 'whole', 'length'],
      ]);
      await other.close();
    }
    expect.assertions(2);
  });

  it('that is aborted stores the received part, marked interrupted, and stops the engine', async () => {
    const stop = new AbortController();
    let stopped = false;
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* (_, signal) {
        signal.addEventListener('abort', () => {
          stopped = true;
        });
        yield { type: 'text', text: 'half ' };
        await delay(60_000, undefined, { signal });
      }),
    });
    const reason = new Error('enough');
    let sessionId = '';
    const reading = (async () => {
      for await (const event of backend.service.chat(
        callWith(key, { signal: stop.signal }),
        request('hello'),
        'chunks',
      )) {
        if (event.event === 'session') sessionId = event.data.session_id;
        if (event.event === 'delta') stop.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(stopped).toBe(true);
    expect(await storedMessages(backend, key, sessionId)).toEqual([
      ['user', 'hello', null],
      ['assistant', 'half ', 'interrupted'],
    ]);
  });

  it('whose reader leaves stores the received part, marked interrupted', async () => {
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* (_, signal) {
        yield { type: 'text', text: 'half ' };
        await delay(60_000, undefined, { signal });
      }),
    });
    let sessionId = '';
    for await (const event of backend.service.chat(callWith(key), request('hello'), 'chunks')) {
      if (event.event === 'session') sessionId = event.data.session_id;
      if (event.event === 'delta') break;
    }
    expect((await storedMessages(backend, key, sessionId))[1]).toEqual(['assistant', 'half ', 'interrupted']);
  });

  it.each([
    ['a crash', new Error('boom'), 'ENGINE_FAILED'],
    [
      'a failure with a code',
      new ParleyError('RATE_LIMITED', 'Too many.', { retryAfter: 7 }),
      'RATE_LIMITED',
    ],
  ])(
    'whose engine fails by %s stores the received part, marked error, and names the session and the message',
    async (_, cause, code) => {
      const { backend, key } = await fixture.open({
        engines: engineOf(async function* () {
          yield { type: 'text', text: 'half ' };
          throw cause;
        }),
      });
      const error = await failureOf(collect(backend.service.chat(callWith(key), request('hello'), 'chunks')));
      expect(error.code).toBe(code);
      expect(error.cause).toBe(cause);
      expect(error.retryAfter).toBe(cause instanceof ParleyError ? 7 : null);
      expect(error.message_id).toMatch(/^msg_/);
      expect(error.message).not.toContain('boom');
      expect(await storedMessages(backend, key, error.session_id ?? '')).toEqual([
        ['user', 'hello', null],
        ['assistant', 'half ', 'error'],
      ]);
    },
  );

  it('whose engine ends without finishing is an error', async () => {
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* () {
        yield { type: 'text', text: 'half' };
      }),
    });
    const error = await failureOf(collect(backend.service.chat(callWith(key), request('hello'), 'chunks')));
    expect(error.code).toBe('ENGINE_FAILED');
  });

  it('gives its engine the earlier messages, a cut reply marked as cut', async () => {
    const contexts: EngineContext[] = [];
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* (context) {
        contexts.push(context);
        yield { type: 'text', text: `re: ${context.message}` };
        if (context.message === 'two') throw new Error('cut');
        yield finish;
      }),
    });
    const first = (await collect(backend.service.chat(callWith(key), request('one'), 'chunks'))).at(
      -1,
    ) as Extract<ChatEvent, { event: 'done' }>;
    const { session_id } = first.data;
    await failureOf(collect(backend.service.chat(callWith(key), request('two', session_id), 'chunks')));
    await collect(backend.service.chat(callWith(key), request('three', session_id), 'chunks'));
    expect(contexts.at(-1)).toEqual({
      ...noSettings,
      message: 'three',
      history: [
        { role: 'user', content: 'one', cut: false },
        { role: 'assistant', content: 're: one', cut: false },
        { role: 'user', content: 'two', cut: false },
        { role: 'assistant', content: 're: two', cut: true },
      ],
    });
  });

  it('gives an engine whole turns, at most as many messages as it reads', async () => {
    const histories: number[] = [];
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* ({ history }) {
        expect(history[0]?.role ?? 'user').toBe('user');
        histories.push(history.length);
        yield finish;
      }, 5),
    });
    const { session_id } = (await backend.service.createSession(callWith(key), { title: null })).data;
    for (let turn = 0; turn < 5; turn++) {
      await collect(backend.service.chat(callWith(key), request(`turn ${turn}`, session_id), 'chunks'));
    }
    expect(histories).toEqual([0, 2, 4, 4, 4]);
  });

  it('in a session that is deleted meanwhile is stored, and the session stays deleted', async () => {
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* () {
        yield { type: 'text', text: 'late' };
        yield finish;
      }),
    });
    let sessionId = '';
    for await (const event of backend.service.chat(callWith(key), request('hello'), 'chunks')) {
      if (event.event === 'session') {
        sessionId = event.data.session_id;
        await backend.service.deleteSession(callWith(key), sessionId);
      }
    }
    expect((await failureOf(backend.service.getSession(callWith(key), sessionId))).code).toBe(
      'SESSION_NOT_FOUND',
    );
    await backend.archive.restoreSession(callWith(key), sessionId);
    expect((await storedMessages(backend, key, sessionId))[1]).toEqual(['assistant', 'late', 'stop']);
  });

  it.each([
    ['was stopped', true],
    ['the engine failed in', false],
  ])('that %s and whose reply cannot be stored says so, and where its message is', async (_, stops) => {
    const stop = new AbortController();
    const full = new ParleyError('STORAGE_FULL', 'There is no room.');
    const { backend, key } = await fixture.open({
      around: (store) =>
        new Proxy(store, {
          get(target, name: keyof SessionStore) {
            if (name === 'endTurn') return () => Promise.reject(full);
            const member = target[name];
            return typeof member === 'function' ? member.bind(target) : member;
          },
        }),
      engines: engineOf(async function* () {
        yield { type: 'text', text: 'half' };
        if (stops) stop.abort(new Error('enough'));
        throw new Error('boom');
      }),
    });
    const chat = backend.service.chat(callWith(key, { signal: stop.signal }), request('hello'), 'chunks');
    const error = await failureOf(collect(chat));
    expect(error.code).toBe('STORAGE_FULL');
    expect(error.cause).toBe(full);
    expect(`${error.message} ${error.hint}`).toContain(
      `kept in session ${error.session_id}; the reply is not.`,
    );
    expect(`${error.message} ${error.hint}`).not.toMatch(/this was not kept/i);
    expect(await storedMessages(backend, key, error.session_id ?? '')).toEqual([['user', 'hello', null]]);
  });
});
