// The failures of a model server: each is one error that names the mode and the remedy, and contains no part of the key.
import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { nextStep } from '../../../src/cli/next-step.ts';
import type { ParleyError } from '../../../src/service/errors.ts';
import {
  chunk,
  replyOf,
  sendStream,
  sse,
  startStream,
  testKey,
  usageChunk,
} from '../../support/model-server.ts';
import { sendJson } from '../../support/scripted-server.ts';
import { type StubScript, UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents } from '../engine-suite.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

const hello = { history: [], message: 'Hello' };

async function failureOf(url: string, settings = {}): Promise<ParleyError & { reply: string }> {
  const engine = stubs.engine(url, { name: 'fast', key: 'env:KEY', ...settings });
  let reply = '';
  try {
    for await (const event of engine.reply(hello, { signal: new AbortController().signal })) {
      if (event.type === 'text') reply += event.text;
    }
  } catch (error) {
    expect(inspect(error, { depth: 10 })).not.toMatch(/canary|abcdef/);
    return Object.assign(error as ParleyError, { reply });
  }
  throw new Error('expected a failure');
}

async function failureAt(script: StubScript, settings = {}) {
  return failureOf((await stubs.serve(script)).url, settings);
}

const json =
  (status: number, body: unknown, headers = {}): StubScript =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const error = (message: string, code: string | number | null = null, type: string | null = null) => ({
  error: { message, code, type },
});

describe('an answer that refuses', () => {
  it.each([
    [
      'a wrong key',
      401,
      error(`Incorrect API key provided: ${testKey.slice(0, 8)}***cdef.`, 'invalid_api_key'),
      'ENGINE_FAILED',
      /does not accept the key \(401\)\.$/,
      /parley modes show fast/,
    ],
    [
      'no right',
      403,
      error(`The key ${testKey} may not`),
      'ENGINE_FAILED',
      /refuses the request \(403\)\. It says: The key \[key\] may not\.$/,
      /modes show fast/,
    ],
    [
      'no money',
      429,
      error('You exceeded your current quota', 'insufficient_quota'),
      'ENGINE_FAILED',
      /asks for payment first/,
      /credit/,
    ],
    ['no money', 402, error('Insufficient Balance'), 'ENGINE_FAILED', /asks for payment first/, /credit/],
    [
      'an unknown model',
      404,
      error('The model `x` does not exist', 'model_not_found'),
      'ENGINE_FAILED',
      /has no model "test-model" \(404\)\. It says: The model `x`/,
      /parley modes set fast --model/,
    ],
    [
      'an unknown model in one word',
      404,
      { error: "model 'x' not found" },
      'ENGINE_FAILED',
      /has no model/,
      /--model/,
    ],
    [
      'an unknown model with another status',
      400,
      error('Model Not Exist', 'invalid_request_error'),
      'ENGINE_FAILED',
      /has no model/,
      /--model/,
    ],
    [
      'too long a context',
      400,
      error("This model's maximum context length is 4097 tokens", 'context_length_exceeded'),
      'ENGINE_FAILED',
      /too long for the model/,
      /--context TOKENS, or start a new session/,
    ],
    [
      'too long a context for llama.cpp',
      400,
      error('the request exceeds the available context size', 400, 'exceed_context_size_error'),
      'ENGINE_FAILED',
      /too long/,
      /--context/,
    ],
    ['too large a body', 413, error('Request too large'), 'ENGINE_FAILED', /too long/, /--context/],
    [
      'a filter',
      400,
      error('The response was filtered', 'content_filter'),
      'ENGINE_FAILED',
      /content filter/,
      /Rephrase/,
    ],
    [
      'a wrong parameter',
      400,
      error("'temperature' does not support 0.2 with this model"),
      'ENGINE_FAILED',
      /refuses the request \(400\)\. It says: 'temperature'/,
      /modes show fast/,
    ],
    [
      'a wrong parameter, told in detail',
      422,
      { detail: 'top_k is unknown' },
      'ENGINE_FAILED',
      /It says: top_k is unknown/,
      /modes show/,
    ],
    [
      'a list of one error',
      400,
      [error('No such field', 400)],
      'ENGINE_FAILED',
      /It says: No such field/,
      /modes show/,
    ],
    [
      'overload',
      503,
      error('Loading model', 503, 'unavailable_error'),
      'UNAVAILABLE',
      /overloaded or not ready \(503\)\. It says: Loading model\.$/,
      /Try again/,
    ],
    [
      'overload by words',
      529,
      error('Overloaded', null, 'overloaded_error'),
      'UNAVAILABLE',
      /overloaded/,
      /Try again/,
    ],
    [
      'its own fault',
      500,
      error('Is it me?'),
      'ENGINE_FAILED',
      /failed \(500\)\. It says: Is it me\?$/,
      /Try again/,
    ],
    ['its own time-out', 504, {}, 'ENGINE_TIMEOUT', /did not answer in time \(504\)\.$/, /Try again/],
  ])('for %s (%i)', async (_why, status, body, code, message, hint) => {
    const failure = await failureAt(json(status, body));
    expect(failure).toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(nextStep(failure)).toMatch(hint);
    expect(failure.message).toMatch(/^The mode fast failed: its server 127\.0\.0\.1:\d+ /);
  });

  it('for too many requests says when to retry', async () => {
    const failure = await failureAt(
      json(429, error('Rate limit reached', 'rate_limit_exceeded'), { 'retry-after': '7' }),
    );
    expect(failure).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 7, hint: 'Try again in 7 s.' });
  });

  it.each([
    ['0', 'Try again in a moment.'],
    ['45000', 'Try again in 12 h 30 min.'],
  ])('for too many requests, with a wait of %s s, says so in words', async (seconds, hint) => {
    const limit = error('Rate limit reached', 'rate_limit_exceeded');
    const failure = await failureAt(json(429, limit, { 'retry-after': seconds }));
    expect(failure).toMatchObject({ retryAfter: Number(seconds), hint });
  });

  it('whose body breaks off is reported by its status', async () => {
    const failure = await failureAt((response) => {
      response.writeHead(401, { 'content-length': '500' }).write('{"error":');
      setTimeout(() => response.destroy(), 20);
    });
    expect(failure.message).toMatch(/does not accept the key \(401\)\.$/);
  });

  it('with an HTML page is reported as no API, and is not quoted', async () => {
    const page =
      (status: number): StubScript =>
      (response) =>
        response
          .writeHead(status, { 'content-type': 'text/html' })
          .end(`<html>${'nothing '.repeat(20_000)}</html>`);
    const missing = await failureAt(page(404));
    expect(missing).toMatchObject({
      message: expect.stringMatching(/no chat completions at that address \(404\)\.$/),
    });
    const words = await failureAt((response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end('Welcome: all\nof you'),
    );
    expect(words.message).toMatch(/answered with text\/plain, not with a chat completion\.$/);
    const welcome = await failureAt(page(200));
    expect(welcome).toMatchObject({
      message: expect.stringMatching(/answered with text\/html, not with a chat completion\.$/),
      remedy: { kind: 'check_mode', mode: 'fast', subject: 'base address' },
    });
  });

  it('with a redirect is not followed', async () => {
    const other = await stubs.serve((response) => sendStream(response, replyOf('Hi')));
    const failure = await failureAt((response) => response.writeHead(307, { location: other.url }).end());
    expect(failure.message).toMatch(/redirects \(307\)/);
    expect(other.requests).toEqual([]);
  });

  it('for want of a key, which the mode does not have, says how to name one', async () => {
    const failure = await failureAt(json(401, error('No auth credentials found', 401)), { key: null });
    expect(failure).toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching(/requires a key, and the mode has none \(401\)\.$/),
      details: [{ field: 'model_server', problem: 'no_key' }],
    });
    expect(nextStep(failure)).toBe('Name where to read the key from: parley modes set fast --key env:NAME');
  });

  it('reads the key again after it was refused', async () => {
    let reads = 0;
    const script: StubScript = (response, _request, count) =>
      count === 1 ? sendJson(response, {}, 401) : sendStream(response, replyOf('Hi'));
    const readKey = async () => {
      reads += 1;
      return testKey;
    };
    const { engine } = await stubs.engineOver(script, { key: 'command:x' }, { readKey });
    await expect(collectEvents(engine, hello)).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    await collectEvents(engine, hello);
    await collectEvents(engine, hello);
    expect(reads).toBe(2);
  });
});

describe('a stream that goes wrong', () => {
  const half = sse(chunk({ content: 'Half' }));

  it.each([
    [
      'before its first word',
      sse(error('No capacity', 502)),
      '',
      /overloaded or not ready \(502\)\. It says: No capacity\.$/,
    ],
    [
      'at its first word',
      half + sse({ ...chunk({ content: '' }, 'error'), ...error('Provider disconnected', 502) }),
      'Half',
      /It says: Provider disconnected\.$/,
    ],
    [
      'with an event of errors',
      `${half}event: error\ndata: {"error":{"message":"Internal"}}\n\n`,
      'Half',
      /failed\. It says: Internal\.$/,
    ],
    [
      'with an error in a field of its own, as of llama.cpp',
      `${half}error: {"code":500,"message":"Out of memory","type":"server_error"}\n\n`,
      'Half',
      /failed \(500\)\. It says: Out of memory\.$/,
    ],
    [
      'with an error that is no event',
      '{"error":{"message":"No such luck","type":"server_error"}}',
      '',
      /failed\. It says: No such luck\.$/,
    ],
    ['with words that are no event', `${half}warning: slow\nnonsense\n\n`, 'Half', /broke off its reply\.$/],
    ['with JSON that is no event', `${half}{\n"x": 1\n}\n\n`, 'Half', /broke off its reply\.$/],
    [
      'after its last word',
      sse(chunk({ content: 'Half' }), chunk({}, 'stop'), error('late')),
      'Half',
      /late/,
    ],
    ['by a filter', half + sse(chunk({}, 'content_filter'), '[DONE]'), 'Half', /content filter\.$/],
    [
      'by a fault in the network of the vendor',
      half + sse(chunk({}, 'network_error'), '[DONE]'),
      'Half',
      /ended its reply early/,
    ],
    [
      'for want of machines',
      half + sse(chunk({}, 'insufficient_system_resource'), '[DONE]'),
      'Half',
      /ended its reply early/,
    ],
    ['by its end', half, 'Half', /broke off its reply\.$/],
    [
      'by its end, and whose chunks name the text "null" as the reason of the end',
      sse(chunk({ content: 'Half' }, 'null')),
      'Half',
      /broke off its reply\.$/,
    ],
    ['by an end in the middle of an event', `${half}data: {"choi`, 'Half', /broke off its reply\.$/],
    ['by an end in the middle of its first event', 'data: {"choi', '', /broke off its reply\.$/],
    ['with what is no JSON', `${half}data: nonsense\n\n`, 'Half', /cannot be read\.$/],
    ['with nothing', '', '', /broke off its reply\.$/],
    ['with [DONE] alone', sse('[DONE]'), '', /sent an empty reply\.$/],
    [
      'with an empty reply',
      sse(chunk({ content: '' }), chunk({}, 'stop'), '[DONE]'),
      '',
      /sent an empty reply\.$/,
    ],
    [
      'with notes alone',
      sse(chunk({ reasoning_content: 'Hm' }), chunk({}, 'length'), '[DONE]'),
      '',
      /used all its tokens/,
    ],
    [
      'with nothing but the end at its limit, because the server keeps the notes to itself',
      sse(chunk({ content: '' }), chunk({}, 'length'), usageChunk, '[DONE]'),
      '',
      /used all its tokens/,
    ],
    [
      'with notes in tags alone',
      sse(chunk({ content: '<think>Hm' }), chunk({}, 'length'), '[DONE]'),
      '',
      /used all its tokens/,
    ],
    [
      'with notes that it ends without a reply',
      sse(chunk({ content: '<think>Hm</think>\n' }), chunk({}, 'stop'), '[DONE]'),
      '',
      /sent its notes and no reply\.$/,
    ],
    ['within what is like a tag', sse(chunk({ content: '<th' })), '<th', /broke off its reply\.$/],
    [
      'by an error within what is like a tag',
      sse(chunk({ content: ' <thin' }), error('Gone', 502)),
      ' <thin',
      /It says: Gone\.$/,
    ],
  ])('%s fails, and the text before it was passed on', async (_where, body, text, message) => {
    const failure = await failureAt((response) => sendStream(response, body));
    // A server that is overloaded or breaks off may respond later.
    const code = /broke off|Gone|502|disconnected|ended its reply early/.test(message.source)
      ? 'UNAVAILABLE'
      : 'ENGINE_FAILED';
    expect(failure).toMatchObject({ code, reply: text, message: expect.stringMatching(message) });
  });

  it.each([
    [{ max_tokens: 9 }, '--max-tokens NUMBER'],
    [{ max_completion_tokens: 9 }, '--param max_completion_tokens=NUMBER'],
  ])(
    'at its limit before the reply names the option for the limit of a mode with %j',
    async (parameters, option) => {
      const body = sse(chunk({}, 'length'), '[DONE]');
      const failure = await failureAt((response) => sendStream(response, body), { parameters });
      expect(nextStep(failure)).toBe(`Allow a longer reply: parley modes set fast ${option}`);
    },
  );

  it('with a broken connection fails', async () => {
    const failure = await failureAt((response) => {
      startStream(response).write(half);
      setTimeout(() => response.destroy(), 30);
    });
    expect(failure).toMatchObject({
      code: 'UNAVAILABLE',
      reply: 'Half',
      message: expect.stringMatching(
        /^The mode fast got no complete reply: the connection to \S+ was lost\.$/,
      ),
    });
  });
});

describe('silence', () => {
  it('before the first word ends after the time limit of the mode, although the server sends comments', async () => {
    const failure = await failureAt(
      (response) => {
        startStream(response);
        const timer = setInterval(() => response.write(': still here\n\n'), 20);
        response.on('close', () => clearInterval(timer));
      },
      { first_token_seconds: 0.2 },
    );
    expect(failure).toMatchObject({
      code: 'ENGINE_TIMEOUT',
      message: expect.stringMatching(/sent nothing for 0\.2 s\.$/),
      remedy: { kind: 'allow_longer_silence', mode: 'fast', within: 'start' },
    });
  });

  it('in the middle ends after the time limit of the mode', async () => {
    const failure = await failureAt(
      (response) => startStream(response).write(sse(chunk({ content: 'Half' }))),
      { idle_seconds: 0.2 },
    );
    expect(failure).toMatchObject({
      code: 'ENGINE_TIMEOUT',
      reply: 'Half',
      message: expect.stringMatching(/sent nothing for 0\.2 s in the middle/),
      remedy: { kind: 'allow_longer_silence', mode: 'fast', within: 'reply' },
    });
  });

  it('is no failure while the server sends comments', async () => {
    const script: StubScript = (response) => {
      startStream(response).write(sse(chunk({ content: 'Half' })));
      const timer = setInterval(() => response.write(': still here\n\n'), 20);
      setTimeout(() => {
        clearInterval(timer);
        response.end(sse(chunk({ content: ' and half' }, 'stop')));
      }, 400);
    };
    const { engine } = await stubs.engineOver(script, { idle_seconds: 0.25 });
    expect(await collectEvents(engine, hello)).toHaveLength(3);
  });

  it('of a suspended process is no failure if the rest arrived meanwhile', async () => {
    const script: StubScript = (response) => {
      startStream(response).write(sse(chunk({ content: 'Half' })));
      setTimeout(setImmediate, 20, () => {
        response.end(sse(chunk({ content: ' and half' }, 'stop')));
        process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300));
      });
    };
    const { engine } = await stubs.engineOver(script, { idle_seconds: 0.1 });
    expect(await collectEvents(engine, hello)).toHaveLength(3);
  });
});

describe('no server', () => {
  it('is reported with the command that starts it, for this machine', async () => {
    const server = await stubs.serve(() => {});
    await server.close();
    expect(await failureOf(server.url)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/^The mode fast got no reply: nothing is listening at 127/),
      remedy: { kind: 'start_model_server', mode: 'fast', program: null },
    });
  });

  it('with TLS at an https address is reported with a check of the address', async () => {
    const server = await stubs.serve(() => {});
    expect(await failureOf(server.url.replace('http:', 'https:'))).toMatchObject({
      message: expect.stringMatching(/it does not speak TLS as expected\.$/),
      remedy: { kind: 'check_mode', mode: 'fast', subject: 'address' },
    });
  });

  it('but a server of another protocol is reported as such', async () => {
    const server = await stubs.serveBytes((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await failureOf(server.url)).toMatchObject({
      message: expect.stringMatching(/is not valid HTTP/),
    });
  });

  it('that closes the connection at once is reported, and not asked again, because it may have started to reply', async () => {
    let count = 0;
    const server = await stubs.serveBytes((socket) => {
      count += 1;
      socket.destroy();
    });
    expect(await failureOf(server.url)).toMatchObject({
      message: expect.stringMatching(
        /^The mode fast got no complete reply: the connection to \S+ was lost\.$/,
      ),
    });
    expect(count).toBe(1);
  });
});
