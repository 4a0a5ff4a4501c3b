// The contract of reply-engine.ts, for every engine.
import { describe, expect, test } from 'vitest';
import type { EngineContext, EngineEvent, ReplyEngine } from '../../src/engine/reply-engine.ts';

const never = new AbortController().signal;
const hello: EngineContext = { history: [], message: 'Hello, what do you think of my code?' };
const earlier: EngineContext = {
  history: [
    { role: 'user', content: 'My name is Ada.', cut: false },
    { role: 'assistant', content: 'Pleased to', cut: true },
  ],
  message: 'What is my name?',
};
const unicode: EngineContext = {
  history: [],
  message: `My 👩🏽‍💻 says ${'naïve 🎉 名前 𝒳 e\u0301 '.repeat(400)}`,
};
const contexts = {
  'a first message': hello,
  'a message with a history': earlier,
  'text of many planes': unicode,
};

export async function collectEvents(
  engine: ReplyEngine,
  context: EngineContext,
  signal: AbortSignal = never,
): Promise<readonly EngineEvent[]> {
  const events: EngineEvent[] = [];
  for await (const event of engine.reply(context, { signal })) events.push(event);
  return events;
}

export async function collectReply(engine: ReplyEngine, context: EngineContext): Promise<string> {
  return textOf(await collectEvents(engine, context));
}

export function textOf(events: readonly EngineEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}

export function describeEngine(name: string, make: () => ReplyEngine): void {
  describe(`${name} as an engine`, () => {
    test('it reads a whole number of messages', () => {
      expect(Number.isInteger(make().historyMessages)).toBe(true);
      expect(make().historyMessages).toBeGreaterThanOrEqual(0);
    });

    for (const [what, context] of Object.entries(contexts)) {
      test(`${what} is answered in chunks of text, none empty, that end with one finish`, async () => {
        const events = await collectEvents(make(), context);
        expect(textOf(events)).not.toBe('');
        expect(events.filter((event) => event.type === 'text' && event.text === '')).toEqual([]);
        expect(events.filter(({ type }) => type === 'finish')).toHaveLength(1);
        expect(events.at(-1)).toMatchObject({
          type: 'finish',
          reason: expect.stringMatching(/^(stop|length)$/),
        });
      });
    }

    test('no chunk splits a character', async () => {
      for (const event of await collectEvents(make(), unicode)) {
        if (event.type === 'text') expect(Buffer.from(event.text).toString()).toBe(event.text);
      }
    });

    test('a signal that fired before the call rejects with its reason, and there is no reply', async () => {
      const reason = new Error('stopped');
      const reply = make()
        .reply(hello, { signal: AbortSignal.abort(reason) })
        [Symbol.asyncIterator]();
      await expect(reply.next()).rejects.toBe(reason);
      await expect(reply.next()).resolves.toMatchObject({ done: true });
    });

    test('a signal that fires between the call and the first chunk rejects with its reason', async () => {
      const stop = new AbortController();
      const reason = new Error('stopped');
      const reply = make().reply(hello, { signal: stop.signal })[Symbol.asyncIterator]();
      stop.abort(reason);
      await expect(reply.next()).rejects.toBe(reason);
    });

    test('a signal that fires during the reply rejects with its reason, and no finish comes', async () => {
      const stop = new AbortController();
      const reason = new Error('stopped');
      const reply = make().reply(hello, { signal: stop.signal })[Symbol.asyncIterator]();
      await expect(reply.next()).resolves.toMatchObject({ done: false });
      stop.abort(reason);
      await expect(reply.next()).rejects.toBe(reason);
      await expect(reply.next()).resolves.toMatchObject({ done: true });
    });

    test('a signal that fires after the finish changes nothing', async () => {
      const stop = new AbortController();
      const events: EngineEvent[] = [];
      for await (const event of make().reply(hello, { signal: stop.signal })) {
        events.push(event);
        if (event.type === 'finish') stop.abort(new Error('stopped'));
      }
      expect(events.at(-1)?.type).toBe('finish');
    });

    test('a reader may leave in the middle, and the engine answers again', async () => {
      const engine = make();
      for await (const _ of engine.reply(hello, { signal: never })) break;
      expect(await collectReply(engine, hello)).not.toBe('');
    });

    test('two concurrent replies of one engine are both complete', async () => {
      const engine = make();
      const [one, other] = await Promise.all([collectEvents(engine, hello), collectEvents(engine, unicode)]);
      for (const events of [one, other]) {
        expect(textOf(events)).not.toBe('');
        expect(events.findIndex(({ type }) => type === 'finish')).toBe(events.length - 1);
      }
    });
  });
}
