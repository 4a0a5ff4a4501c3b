// The engine over a real server: the suite of all engines, its requests, and the streams of servers, including unusual ones.
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cutMark } from '../../../src/engine/upstream/completion-request.ts';
import {
  chunk,
  replyOf,
  sendStream,
  sse,
  startStream,
  testKey,
  upstreamEngine,
  usageChunk,
} from '../../support/model-server.ts';
import { runs } from '../../support/runs.ts';
import { type ScriptedServer, sendJson, serve } from '../../support/scripted-server.ts';
import { type StubScript, UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents, collectReply, describeEngine, textOf } from '../engine-suite.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

const hello = { history: [], message: 'Hello' };
const finish = { type: 'finish', reason: 'stop', usage: { input_tokens: 11, output_tokens: 3 } };

const slow = await serve(async (_request, response) => {
  startStream(response);
  for (const piece of ['Well', ', that depends', ' on 👩🏽‍💻 and 名前.']) {
    response.write(sse(chunk({ content: piece })));
    await delay(5);
  }
  response.end(sse(chunk({}, 'stop'), '[DONE]'));
});
afterAll(() => slow.close());
describeEngine('an upstream model', () => upstreamEngine(slow.url));

describe('certificates that cannot be read', () => {
  it('fail the reply and not the process, and are read again for the next reply', async () => {
    const server = await stubs.serve((response) => sendStream(response, replyOf('Hi')));
    let reads = 0;
    const authorities = async () => {
      reads += 1;
      if (reads === 1) throw new Error('unreadable');
      return null;
    };
    const engine = upstreamEngine(server.url, {}, { authorities });
    await expect(collectEvents(engine, hello)).rejects.toThrow('unreadable');
    expect(textOf(await collectEvents(engine, hello))).toBe('Hi');
    await engine.close();
    const broken = upstreamEngine(
      server.url,
      {},
      { authorities: () => Promise.reject(new Error('unreadable')) },
    );
    await expect(collectEvents(broken, hello)).rejects.toThrow('unreadable');
    await broken.close();
  });
});

describe('what it asks', () => {
  it.each([
    ['Be brief.', 'In French.', 'Be brief.\n\nIn French.'],
    ['Be brief.', null, 'Be brief.'],
    [null, 'In French.', 'In French.'],
    [null, null, null],
  ])(
    'has the system prompt %j of the mode first, then %j of the session',
    async (ofMode, ofSession, sent) => {
      const { server, engine } = await stubs.engineOver((response) => sendStream(response, replyOf('Hi')), {
        system: ofMode,
      });
      await collectReply(engine, { ...hello, system: ofSession, parameters: {} });
      expect(JSON.parse(server.requests[0]?.body ?? '').messages).toEqual([
        ...(sent === null ? [] : [{ role: 'system', content: sent }]),
        { role: 'user', content: 'Hello' },
      ]);
    },
  );

  it('has the parameters of the session in place of those of the mode, one by one', async () => {
    const { server, engine } = await stubs.engineOver((response) => sendStream(response, replyOf('Hi')), {
      temperature: 0.5,
      parameters: { top_p: 0.9, stop: ['END'], seed: 1 },
    });
    const parameters = { temperature: 0, stop: ['.'], max_tokens: 5, seed: null };
    await collectReply(engine, { ...hello, parameters });
    await collectReply(engine, hello);
    const bodies = server.requests.map(({ body }) => JSON.parse(body));
    expect(bodies[0]).toMatchObject({ top_p: 0.9, ...parameters, stream: true });
    expect(bodies[1]).toMatchObject({ temperature: 0.5, top_p: 0.9, stop: ['END'], seed: 1 });
    expect(bodies[1]).not.toHaveProperty('max_tokens');
  });

  it('is a streamed completion of the system prompt, the history with cut replies marked, and the message', async () => {
    const { server, engine } = await stubs.engineOver((response) => sendStream(response, replyOf('Hi')), {
      system: 'Be brief.',
      temperature: 0.5,
      parameters: { top_p: 0.9, stop: ['END'] },
      key: 'env:KEY',
    });
    const history = [
      { role: 'user', content: 'One', cut: false },
      { role: 'assistant', content: 'Half a', cut: true },
    ] as const;
    await collectReply(engine, { history, message: 'Two' });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/v1/chat/completions' });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
    });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      model: 'test-model',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: `Half a\n${cutMark}` },
        { role: 'user', content: 'Two' },
      ],
      temperature: 0.5,
      top_p: 0.9,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it('has no key where the mode has none', async () => {
    const { server, engine } = await stubs.engineOver((response) => sendStream(response, replyOf('Hi')));
    await collectReply(engine, hello);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('omits the request for usage at a server that refuses it, also the next time', async () => {
    const { server, engine } = await stubs.engineOver((response, { body }) => {
      if (!body.includes('stream_options')) sendStream(response, replyOf('Hi'));
      else sendJson(response, { error: { message: "Unrecognized request argument: 'stream_options'" } }, 400);
    });
    expect(await collectReply(engine, hello)).toBe('Hi');
    expect(await collectReply(engine, hello)).toBe('Hi');
    expect(server.requests.map(({ body }) => body.includes('stream_options'))).toEqual([true, false, false]);
  });

  it.each([
    {
      message: 'Your organization must be verified to stream this model.',
      ...{ type: 'invalid_request_error', param: 'stream', code: 'unsupported_value' },
    },
    { message: "Unsupported value: 'stream' does not support true with this model.", param: 'stream' },
    { message: 'This model does not support streaming.' },
  ])(
    'asks for a whole reply where the server refuses to stream it, also the next time: %j',
    async (error) => {
      const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
      const { server, engine } = await stubs.engineOver((response, { body }) => {
        if ('stream' in JSON.parse(body)) sendJson(response, { error }, 400);
        else sendJson(response, { choices, usage: usageChunk.usage });
      });
      for (const _ of [1, 2])
        expect(await collectEvents(engine, hello)).toEqual([{ type: 'text', text: 'Hi' }, finish]);
      const fields = server.requests.map(({ body }) => Object.keys(JSON.parse(body)));
      const own = ['model', 'messages'];
      expect(fields).toEqual([[...own, 'stream', 'stream_options'], own, own]);
    },
  );

  it.each([
    ['', '/v1/chat/completions'],
    ['/', '/v1/chat/completions'],
    ['/v1', '/v1/chat/completions'],
    ['/v1/', '/v1/chat/completions'],
    ['/openai/v1', '/openai/v1/chat/completions'],
    ['/v1beta/openai/', '/v1beta/openai/chat/completions'],
    ['/api/v1/chat/completions', '/api/v1/chat/completions'],
  ])('goes from the base %j to %s', async (base, path) => {
    const { server } = await stubs.engineOver((response) => sendStream(response, replyOf('Hi')));
    const engine = stubs.engine(server.url + base);
    await collectReply(engine, hello);
    expect(server.requests[0]?.path).toBe(path);
  });
});

describe('a stream', () => {
  const whole = replyOf('Grüße', ' aus 日本', ' 👩🏽‍💻!');
  const text = 'Grüße aus 日本 👩🏽‍💻!';

  it('is the same reply byte by byte', async () => {
    const { engine } = await stubs.engineOver(async (response) => {
      startStream(response).socket?.setNoDelay(true);
      for (const byte of Buffer.from(whole)) {
        response.write(Uint8Array.of(byte));
        if (byte > 0x7f) await delay(0);
      }
      response.end();
    });
    const events = await collectEvents(engine, hello);
    expect(textOf(events)).toBe(text);
    expect(events.at(-1)).toEqual(finish);
  });

  it('is the same reply for any chunks and any line ends', async () => {
    let body = Buffer.alloc(0);
    let cuts: readonly number[] = [];
    const { engine } = await stubs.engineOver(async (response) => {
      startStream(response);
      for (const [index, cut] of cuts.entries()) {
        response.write(body.subarray(cuts[index - 1] ?? 0, cut));
        await delay(0);
      }
      response.end(body.subarray(cuts.at(-1) ?? 0));
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(Buffer.byteLength(whole)), { maxLength: 6 }),
        fc.constantFrom('\n', '\r\n', '\r'),
        async (places, end) => {
          body = Buffer.from(whole.replaceAll('\n', end));
          cuts = [...places].sort((one, other) => one - other);
          expect(await collectReply(engine, hello)).toBe(text);
        },
      ),
      { numRuns: runs(10, 125) },
    );
  });

  it.each([
    ['without [DONE]', sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk), finish],
    ['without usage', sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), '[DONE]'), { ...finish, usage: null }],
    [
      'without its last blank line',
      sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk).trimEnd(),
      finish,
    ],
    ['without a reason', sse(chunk({ content: 'Hi' }), '[DONE]'), { ...finish, usage: null }],
    [
      'with the usage before the end',
      sse({ ...chunk({ content: 'Hi' }, 'stop'), usage: usageChunk.usage }, '[DONE]'),
      finish,
    ],
    [
      'with null where nothing is',
      sse(
        { ...chunk({ content: 'Hi', reasoning: null }), usage: null },
        chunk({ content: null }, 'stop'),
        '[DONE]',
      ),
      { ...finish, usage: null },
    ],
    [
      'that ends for its length',
      sse(chunk({ content: 'Hi' }), chunk({}, 'length'), '[DONE]'),
      { ...finish, reason: 'length', usage: null },
    ],
    [
      'with comments and other events',
      `: OPENROUTER PROCESSING\n\nevent: ping\ndata: \n\n${replyOf('Hi')}`,
      finish,
    ],
    ['with something after [DONE]', `${replyOf('Hi')}data: nonsense\n\n`, finish],
    [
      'of parts that are named as in the API of responses',
      sse(chunk({ content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }, 'stop'), usageChunk),
      finish,
    ],
    [
      'with numbers of Python that JSON lacks',
      replyOf('Hi').replaceAll('"created":1700000000', '"scores":[NaN,-Infinity, Infinity]'),
      finish,
    ],
  ])('%s is read completely', async (_what, body, last) => {
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    const events = await collectEvents(engine, hello);
    expect(textOf(events)).toBe('Hi');
    expect(events.at(-1)).toEqual(last);
  });

  it('keeps its text where that has the words NaN and Infinity', async () => {
    const body = replyOf('"NaN" is not -Infinity', ':NaN,').replaceAll('"created":1700000000', '"score":NaN');
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    expect(await collectReply(engine, hello)).toBe('"NaN" is not -Infinity:NaN,');
  });

  it('that stays open after its last event ends', async () => {
    const { engine } = await stubs.engineOver((response) => startStream(response).write(replyOf('Hi')));
    expect(await collectReply(engine, hello)).toBe('Hi');
  });

  it('whose server only says after its last word that it lives ends all the same', async () => {
    const script: StubScript = (response) => {
      startStream(response).write(sse(chunk({ content: 'Hi' }), chunk({}, 'stop')));
      const timer = setInterval(() => response.write(': still here\n\n'), 20);
      response.on('close', () => clearInterval(timer));
    };
    const { engine } = await stubs.engineOver(script, { idle_seconds: 0.2 });
    expect(await collectEvents(engine, hello)).toHaveLength(2);
  });

  it('separates the reasoning of the model from its reply', async () => {
    const body = sse(
      chunk({ reasoning_content: 'They greet' }),
      chunk({ reasoning: ' me.' }),
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: ' So' }] },
          { type: 'text', text: 'Hi' },
        ],
      }),
      chunk({ content: '!' }, 'stop'),
    );
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    const events = await collectEvents(engine, hello);
    expect(textOf(events)).toBe('Hi!');
    expect(events.flatMap((event) => (event.type === 'reasoning' ? [event.text] : [])).join('')).toBe(
      'They greet me. So',
    );
  });

  it('passes on text that arrived together as one chunk', async () => {
    const { engine } = await stubs.engineOver((response) => sendStream(response, replyOf('a', 'b', 'c')));
    expect((await collectEvents(engine, hello)).filter(({ type }) => type === 'text')).toHaveLength(1);
  });

  const ndjson = [chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk]
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');

  it.each<readonly [form: string, type: string | null, body: string]>([
    ['of events', null, replyOf('Hi')],
    ['of events', 'text/plain; charset=utf-8', replyOf('Hi')],
    ['of events', 'application/json', replyOf('Hi')],
    ['of a comment and events', 'application/json', `: hello\n\n${replyOf('Hi')}`],
    ['of events', 'application/x-ndjson', replyOf('Hi')],
    ['of events', 'text/html; charset=UTF-8', replyOf('Hi')],
    ['of lines of JSON', 'application/x-ndjson', ndjson],
  ])('%s may be named %s by its server', async (_form, type, body) => {
    const { engine } = await stubs.engineOver((response) =>
      response.writeHead(200, type === null ? {} : { 'content-type': type }).end(body),
    );
    expect(await collectEvents(engine, hello)).toEqual([{ type: 'text', text: 'Hi' }, finish]);
  });

  it('that is named otherwise is passed on as it arrives', async () => {
    const { engine } = await stubs.engineOver((response) =>
      response.writeHead(200).write(sse(chunk({ content: 'Half' }))),
    );
    const replied = engine.reply(hello, { signal: new AbortController().signal });
    for await (const event of replied) {
      expect(event).toEqual({ type: 'text', text: 'Half' });
      break;
    }
  });

  it('may be a plain JSON response', async () => {
    const message = { role: 'assistant', content: 'Hi', reasoning_content: 'They greet me.' };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    const { engine } = await stubs.engineOver((response) =>
      sendJson(response, { choices, usage: usageChunk.usage }),
    );
    expect(await collectEvents(engine, hello)).toEqual([
      { type: 'reasoning', text: 'They greet me.' },
      { type: 'text', text: 'Hi' },
      finish,
    ]);
  });
});

describe('a stop', () => {
  let server: ScriptedServer;
  let gone: Promise<void>;
  beforeEach(async () => {
    gone = new Promise((resolve) => {
      void stubs
        .serve(async (response) => {
          response.on('close', () => resolve());
          startStream(response).write(sse(chunk({ content: 'Half' })));
        })
        .then((one) => {
          server = one;
        });
    });
    await delay(20);
  });

  it('reaches the server: the connection ends', async () => {
    const stop = new AbortController();
    const engine = stubs.engine(server.url);
    const reply = engine.reply(hello, { signal: stop.signal })[Symbol.asyncIterator]();
    expect(await reply.next()).toMatchObject({ value: { text: 'Half' } });
    const next = reply.next();
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(next).rejects.toBe(reason);
    await gone;
  });

  it('of the reader reaches it, too', async () => {
    const engine = stubs.engine(server.url);
    for await (const _ of engine.reply(hello, { signal: new AbortController().signal })) break;
    await gone;
  });
});
