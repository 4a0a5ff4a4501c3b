// Turns that wait for one another, that are repeated, or that outlive their lease, over the real store.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SessionStore } from '../../src/store/session-store.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { engineOf, finish } from '../support/embedded.ts';
import { request, storedMessages, TurnFixture } from './turn-fixture.ts';

let fixture: TurnFixture;
beforeEach(async () => {
  fixture = await TurnFixture.create();
});
afterEach(() => fixture.close());

describe('a turn', () => {
  it('does not renew its lease after its last event, although nobody requests another', async () => {
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* () {
        yield finish;
      }),
    });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const events = backend.service.chat(callWith(key), request('hi'), 'chunks')[Symbol.asyncIterator]();
      expect((await events.next()).value?.event).toBe('session');
      expect(vi.getTimerCount()).toBe(1);
      expect((await events.next()).value?.event).toBe('done');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('waits for the turn before it, and gives up with SESSION_BUSY', async () => {
    const stop = new AbortController();
    const { backend, key } = await fixture.open({
      limits: { turnWaitMs: 60 },
      engines: engineOf(async function* (_, signal) {
        await delay(60_000, undefined, { signal });
        yield finish;
      }),
    });
    const { session_id } = (await backend.service.createSession(callWith(key), { title: null })).data;
    const running = collect(
      backend.service.chat(callWith(key, { signal: stop.signal }), request('one', session_id), 'chunks'),
    );
    running.catch(() => {});
    await delay(20);
    const error = await failureOf(
      collect(backend.service.chat(callWith(key), request('two', session_id), 'chunks')),
    );
    expect(error.code).toBe('SESSION_BUSY');
    stop.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
    expect(await storedMessages(backend, key, session_id)).toEqual([
      ['user', 'one', null],
      ['assistant', '', 'interrupted'],
    ]);
  });

  it('is served in the order of arrival, without one that gave up', async () => {
    const gates = new Map<string, () => void>();
    const begun: string[] = [];
    let beginnings = 0;
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* ({ message }) {
        begun.push(message);
        await new Promise<void>((resolve) => gates.set(message, resolve));
        yield finish;
      }),
      around: (store) =>
        new Proxy(store, {
          get(target, name: keyof SessionStore) {
            if (name === 'beginTurn') beginnings += 1;
            const member = target[name];
            return typeof member === 'function' ? member.bind(target) : member;
          },
        }),
    });
    const { session_id } = (await backend.service.createSession(callWith(key), { title: null })).data;
    const stop = new AbortController();
    const messages = Array.from({ length: 8 }, (_, index) => String(index));
    const chats = messages.map((message) => {
      const call = callWith(key, message === '3' ? { signal: stop.signal } : {});
      return collect(backend.service.chat(call, request(message, session_id), 'chunks'));
    });
    const others = chats.filter((_, index) => index !== 3);
    const gaveUp = expect(chats[3]).rejects.toThrow('enough');
    await delay(100);
    stop.abort(new Error('enough'));
    await gaveUp;
    const expected = messages.filter((message) => message !== '3');
    for (const message of expected) {
      await expect.poll(() => gates.has(message), { interval: 2 }).toBe(true);
      gates.get(message)?.();
    }
    await Promise.all(others);
    expect(begun).toEqual(expected);
    // Each requests its turn when it is free, and the first in the queue once before: nobody polls by writing.
    expect(beginnings).toBeLessThanOrEqual(2 * expected.length);
  });

  it('waits for a turn of another process, and starts at once when that process has ended', async () => {
    const hang = engineOf(async function* () {
      yield { type: 'text', text: 'never ' };
      await new Promise(() => {});
    });
    const { backend: killed, key } = await fixture.open({
      engines: hang,
      owner: { id: 'killed', isGone: () => false },
    });
    const { session_id } = (await killed.service.createSession(callWith(key), { title: null })).data;
    const abandoned = killed.service
      .chat(callWith(key), request('one', session_id), 'chunks')
      [Symbol.asyncIterator]();
    await abandoned.next();

    const quick = engineOf(async function* () {
      yield { type: 'text', text: 'here' };
      yield finish;
    });
    const alive = await fixture.open({
      engines: quick,
      limits: { turnWaitMs: 30 },
      owner: { id: 'other', isGone: () => false },
    });
    const busy = await failureOf(
      collect(alive.backend.service.chat(callWith(key), request('two', session_id), 'chunks')),
    );
    expect(busy.code).toBe('SESSION_BUSY');

    const knowing = await fixture.open({
      engines: quick,
      owner: { id: 'third', isGone: (owner) => owner === 'killed' },
    });
    await collect(knowing.backend.service.chat(callWith(key), request('three', session_id), 'chunks'));
    expect(await storedMessages(knowing.backend, key, session_id)).toEqual([
      ['user', 'one', null],
      ['assistant', '', 'interrupted'],
      ['user', 'three', null],
      ['assistant', 'here', 'stop'],
    ]);
  });

  it('that ended with an error is repeated with its key, on the stored message, and the new reply replaces the cut one', async () => {
    let requests = 0;
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* (context) {
        requests++;
        yield { type: 'text', text: `${context.message} ${requests}` };
        if (requests === 1) throw new Error('cut');
        yield finish;
      }),
    });
    const call = callWith(key, { idempotencyKey: 'turn-1' });
    const error = await failureOf(collect(backend.service.chat(call, request('hello'), 'chunks')));
    const events = await collect(backend.service.chat(call, request('hello'), 'chunks'));
    const done = events.at(-1);
    expect(done).toMatchObject({
      event: 'done',
      data: { session_id: error.session_id, reply: 'hello 2', message_count: 2 },
    });
    expect(await storedMessages(backend, key, error.session_id ?? '')).toEqual([
      ['user', 'hello', null],
      ['assistant', 'hello 2', 'stop'],
    ]);
    expect(await collect(backend.service.chat(call, request('hello'), 'chunks'))).toMatchObject([
      { event: 'session' },
      { event: 'delta', data: { text: 'hello 2' } },
      { event: 'done' },
    ]);
    expect(requests).toBe(2);
  });

  it('whose key is still running makes the same call wait, and then gives it the same response', async () => {
    let open_ = () => {};
    const gate = new Promise<void>((resolve) => {
      open_ = resolve;
    });
    const { backend, key } = await fixture.open({
      engines: engineOf(async function* () {
        await gate;
        yield { type: 'text', text: 'once' };
        yield finish;
      }),
    });
    const call = callWith(key, { idempotencyKey: 'k' });
    const both = [
      collect(backend.service.chat(call, request('x'), 'chunks')),
      collect(backend.service.chat(call, request('x'), 'chunks')),
    ];
    await delay(30);
    open_();
    const [one, two] = await Promise.all(both);
    expect(one?.at(-1)).toEqual(two?.at(-1));
  });

  it('whose lease has ended meanwhile still stores its reply', async () => {
    let clock = 1_000_000;
    const { backend, key } = await fixture.open({
      now: () => clock,
      limits: { turnWaitMs: 20_000 },
      engines: engineOf(async function* () {
        yield { type: 'text', text: 'a' };
        clock += 16_000;
        yield { type: 'text', text: 'b' };
        yield finish;
      }),
    });

    const events = await collect(backend.service.chat(callWith(key), request('hello'), 'chunks'));
    const done = events.at(-1);
    expect(done).toMatchObject({
      event: 'done',
      data: { reply: 'ab', finish_reason: 'stop', message_count: 2 },
    });
  });
});
