// Hostile model servers: endless responses, extreme compression, halves of characters, and impossible counts.
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { SurrogateRepair } from '../../../src/engine/upstream/surrogate-repair.ts';
import { flood } from '../../support/flood.ts';
import { chunk, sendStream, sse, startStream } from '../../support/model-server.ts';
import { type StubScript, UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents, textOf } from '../engine-suite.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

const hello = { history: [], message: 'Hello' };

const endless =
  (piece: string, before = ''): StubScript =>
  (response) => {
    startStream(response).write(before);
    flood(response, piece);
  };

/** The text of the reply, and the reason of its end. */
async function endOf(script: StubScript) {
  const { engine } = await stubs.engineOver(script);
  let characters = 0;
  const failure = await (async () => {
    for await (const event of engine.reply(hello, { signal: new AbortController().signal }))
      if (event.type !== 'finish') characters += event.text.length;
  })().catch((error: unknown) => error);
  return { characters, failure };
}

describe('a reply without an end', () => {
  const word = 'word '.repeat(2000);
  const packed = gzipSync(sse(chunk({ content: word })).repeat(2000));

  it.each<readonly [string, StubScript]>([
    ['of text', endless(sse(chunk({ content: word })))],
    ['of notes', endless(sse(chunk({ reasoning_content: word })))],
    [
      'that is packed',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
          .end(packed),
    ],
  ])('%s is stopped, and the received part is passed on', async (_what, script) => {
    const { characters, failure } = await endOf(script);
    expect(failure).toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching(/sent more than 8388608 characters without an end of its reply\.$/),
    });
    expect(characters).toBeGreaterThan(8 * 1024 * 1024);
    expect(characters).toBeLessThan(10 * 1024 * 1024);
  });

  it('of white space after the reasoning is stopped, too', async () => {
    const script = endless(
      sse(chunk({ content: '\n'.repeat(50_000) })),
      sse(chunk({ content: '<think>x</think>' })),
    );
    const { engine } = await stubs.engineOver(script);
    await expect(collectEvents(engine, hello)).rejects.toThrow(/without an end of its reply/);
  });

  it('in one line is stopped before it fills the memory', async () => {
    const { failure } = await endOf(endless('x'.repeat(65_536), 'data: '));
    expect(failure).toMatchObject({
      message: expect.stringMatching(/an event is longer than \d+ bytes/),
    });
  });
});

describe('a refusal', () => {
  it.each<[string, string]>([
    ['words', 'model '.repeat(500_000)],
    ['JSON', JSON.stringify({ error: { message: 'model. '.repeat(500_000) } })],
    ['no end', ''],
  ])('of %s without an end is reported by its status', async (_what, body) => {
    const { engine } = await stubs.engineOver((response) => {
      response.writeHead(429);
      if (body !== '') {
        response.end(body);
        return;
      }
      flood(response, 'x'.repeat(65_536));
    });
    const start = performance.now();
    await expect(collectEvents(engine, hello)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(performance.now() - start).toBeLessThan(2000);
  });
});

describe('a text', () => {
  it('whose characters arrive in halves is joined, and invalid characters are replaced', async () => {
    const halves = sse(
      chunk({ content: 'a\ud83d' }),
      chunk({ content: '\ude00b\0c\ud800' }),
      chunk({ content: 'd\ude00\ud800' }, 'stop'),
      '[DONE]',
    );
    const { engine } = await stubs.engineOver((response) => sendStream(response, halves));
    const events = await collectEvents(engine, hello);
    expect(textOf(events)).toBe('a😀b\ufffdc\ufffdd\ufffd\ufffd');
    for (const event of events) if (event.type === 'text') expect(event.text.isWellFormed()).toBe(true);
  });

  it('is the same for any cuts of its UTF-16', () => {
    const units = fc.array(fc.constantFrom('a', '\ud83d', '\ude00', '\0', '名'), { maxLength: 12 });
    fc.assert(
      fc.property(units, fc.nat({ max: 12 }), (pieces, at) => {
        const text = new SurrogateRepair();
        const cut = text.take(pieces.slice(0, at).join('')) + text.take(pieces.slice(at).join(''));
        expect(cut + text.rest()).toBe(pieces.join('').toWellFormed().replaceAll('\0', '\ufffd'));
      }),
    );
  });
});

it.each([
  [{ prompt_tokens: -5, completion_tokens: 3 }],
  [{ prompt_tokens: '5', completion_tokens: 3 }],
  [{ prompt_tokens: 5, completion_tokens: 1.5 }],
  [{ prompt_tokens: 5, completion_tokens: 1e308 }],
  [{ prompt_tokens: 5, completion_tokens: Number.MAX_SAFE_INTEGER }],
  [[5, 3]],
  ['5'],
])('a usage of %j is ignored', async (usage) => {
  const body = sse(chunk({ content: 'Hi' }), { ...chunk({}, 'stop'), usage }, '[DONE]');
  const { engine } = await stubs.engineOver((response) => sendStream(response, body));
  expect((await collectEvents(engine, hello)).at(-1)).toEqual({
    type: 'finish',
    reason: 'stop',
    usage: null,
  });
});

it('a stop while the key is read works at once, and another reply still gets the key', async () => {
  let give = (_key: string) => {};
  const readKey = () =>
    new Promise<string>((resolve) => {
      give = resolve;
    });
  const { server, engine } = await stubs.engineOver(
    (response) => sendStream(response, sse(chunk({ content: 'Hi' }, 'stop'))),
    { key: 'command:x' },
    { readKey },
  );
  const stop = new AbortController();
  const reason = new Error('enough');
  const stopped = collectEvents(engine, hello, stop.signal);
  const other = collectEvents(engine, hello);
  setTimeout(() => stop.abort(reason), 20);
  await expect(stopped).rejects.toBe(reason);
  give('a-key');
  expect(textOf(await other)).toBe('Hi');
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a-key']);
});

describe('of a server that sends several choices', () => {
  const choice = (index: unknown, content: string, finish_reason: string | null = null) => ({
    index,
    delta: { content },
    finish_reason,
  });
  const chunkOf = (...choices: readonly object[]) => ({ object: 'chat.completion.chunk', choices });

  it.each<readonly [string, readonly object[], string]>([
    [
      'in turns',
      [choice(0, 'a'), choice(1, 'WRONG', 'stop'), choice(0, 'b')].map((one) => chunkOf(one)),
      'ab',
    ],
    ['in one chunk', [chunkOf(choice(1, 'WRONG'), choice(0, 'a'))], 'a'],
    ['of which one has no number', [chunkOf(choice(undefined, 'a')), chunkOf(choice(2, 'WRONG'))], 'a'],
    [
      'that begin elsewhere',
      [chunkOf(choice(3, 'a')), chunkOf(choice(0, 'WRONG')), chunkOf(choice(3, 'b'))],
      'ab',
    ],
  ])('of %s, one is the reply', async (_how, chunks, expected) => {
    const body = sse(...chunks, '[DONE]');
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    expect(textOf(await collectEvents(engine, hello))).toBe(expected);
  });
});

it('a reply that was ended for its length stays cut, whatever reason the server names later', async () => {
  const body = sse(chunk({ content: 'a' }), chunk({}, 'length'), chunk({}, 'stop'), '[DONE]');
  const { engine } = await stubs.engineOver((response) => sendStream(response, body));
  expect((await collectEvents(engine, hello)).at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
});

it.each([
  'content_filter: RECITATION',
  'content_filter: PROHIBITED_CONTENT',
  'BLOCKLIST',
  'SPII',
  'refusal',
  'sensitive',
])('a reply that was ended by %s is not complete', async (reason) => {
  const { characters, failure } = await endOf((response) =>
    sendStream(response, sse(chunk({ content: 'Once' }), chunk({}, reason), '[DONE]')),
  );
  expect(characters).toBe(4);
  expect(failure).toMatchObject({
    code: 'ENGINE_FAILED',
    details: [{ field: 'model_server', problem: 'content_filter' }],
  });
});

it('a reply that filled the context of the model is cut at its length', async () => {
  const body = sse(chunk({ content: 'a' }), chunk({}, 'model_context_window_exceeded'), '[DONE]');
  const { engine } = await stubs.engineOver((response) => sendStream(response, body));
  expect((await collectEvents(engine, hello)).at(-1)).toMatchObject({ type: 'finish', reason: 'length' });
});

it('a refusal with objects in place of texts is parsed', async () => {
  const error = {
    code: { toString: 1 },
    type: { valueOf: 1 },
    message: { toString: 1 },
    details: [{ reason: {} }],
  };
  const { engine } = await stubs.engineOver((response) =>
    response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ error })),
  );
  await expect(collectEvents(engine, hello)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    message: expect.stringMatching(/ \(429\)\.$/),
  });
});
