// The failure of a model as HTTP clients see it: its kind, without any text, address or setting of the model's server.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineSet } from '../../src/engine/engine-set.ts';
import { ParleyError } from '../../src/service/errors.ts';
import { modelServerProblems } from '../../src/service/model-server-problem.ts';
import { callWith, collect, failureOf } from '../support/calls.ts';
import { chunk, sse } from '../support/model-server.ts';
import { sendJson } from '../support/scripted-server.ts';
import { type StubScript, UpstreamStubs } from '../support/upstream-stubs.ts';
import { eventsOf } from './event-reading.ts';
import { bodyOf, openServer, type ServerFixture } from './server-fixture.ts';

const vendorText = 'VENDOR-WORDS, see https://vendor.test/help or /etc/vendor --flag';
const refuse =
  (status: number, code: string | null = null, words = vendorText): StubScript =>
  (response) =>
    sendJson(response, { error: { message: words, code, type: null } }, status);
const stream =
  (...values: readonly (object | string)[]): StubScript =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(sse(...values));

const scripts: Readonly<Record<string, StubScript>> = {
  no_key: stream(),
  bad_key: refuse(401),
  forbidden: refuse(403),
  credit: refuse(402),
  unknown_model: refuse(404, 'model_not_found'),
  no_such_address: (response) => response.writeHead(404, { 'content-type': 'text/plain' }).end(vendorText),
  context_too_long: refuse(400, 'context_length_exceeded'),
  rate_limited: (response) =>
    response
      .writeHead(429, { 'content-type': 'application/json', 'retry-after': '36' })
      .end(JSON.stringify({ error: { message: vendorText } })),
  content_filter: refuse(400, 'content_filter'),
  overloaded: refuse(503),
  bad_gateway: refuse(502),
  timeout: () => {},
  refused: refuse(400),
  failed: refuse(500),
  unreachable: stream(),
  untrusted: stream(),
  redirect: (response) => response.writeHead(307, { location: 'https://vendor.test/other' }).end(),
  not_an_api: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(vendorText),
  broken_off: stream(chunk({ content: 'Half' })),
  bad_reply: stream(vendorText),
  empty_reply: stream(chunk({}, 'stop')),
  with_fallback: refuse(500),
  fallback: stream(chunk({ content: 'Hello' }), chunk({}, 'stop')),
  tool_call: stream(
    chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
    chunk({}, 'tool_calls'),
  ),
};

const stubs = new UpstreamStubs();
let fixture: ServerFixture;
let maxTold: string;

beforeAll(async () => {
  const server = await stubs.serve((response, request, count) => {
    const problem = request.path.split('/')[1] ?? '';
    return (scripts[problem] ?? refuse(500))(response, request, count);
  });
  const gone = await stubs.serve(() => {});
  await gone.close();
  maxTold = `127.0.0.1:${server.port}`;
  const readKey = () =>
    Promise.reject(
      new ParleyError('ENGINE_FAILED', 'The mode x has no key: the file /etc/key cannot be read.', {
        hint: 'Put the key into /etc/key.',
        remedy: { kind: 'move_key', mode: 'x' },
      }),
    );
  const engineAt = (mode: string) => {
    const base = mode === 'untrusted' ? server.url.replace('http:', 'https:') : server.url;
    const url = mode === 'unreachable' ? gone.url : `${base}/${mode}/v1`;
    const fallbacks: Readonly<Record<string, string>> = { bad_gateway: 'failed', with_fallback: 'fallback' };
    const settings = { name: mode, fallback: fallbacks[mode] ?? null };
    return stubs.engine(
      url,
      { ...settings, key: mode.endsWith('_key') ? 'file:/etc/key' : null },
      { timeout: mode === 'timeout' ? 0.2 : null, ...(mode === 'no_key' && { readKey }) },
    );
  };
  const engines: EngineSet = {
    modes: [...modelServerProblems, 'with_fallback', 'fallback'].map((name, index) => ({
      ...{ name, description: '', engine: 'upstream', model: null, default: index === 0 },
    })),
    engine: (mode) => engineAt(mode),
  };
  fixture = await openServer({ engines });
});
afterAll(async () => {
  await fixture.close();
  await stubs.close();
});

/** A path, a host with its port, a URL, a command, an option, or what the model's server said. */
const untold = /(^|[\s(])~?\/\w|127\.0\.0\.1|localhost|:\d{2,}|https?:|vendor|\bparley\b|--\w/i;

describe.each(modelServerProblems.map((problem) => [problem]))('a model that fails by %s', (problem) => {
  const chat = (accept: string) =>
    fixture.ask('POST', '/v1/chat', {
      headers: { accept },
      body: { mode: problem, message: 'Hi' },
    });
  const inProcess = () =>
    failureOf(
      collect(
        fixture.backend.service.chat(
          callWith(fixture.key),
          { mode: problem, message: 'Hi', session_id: null },
          'chunks',
        ),
      ),
    );

  test('is reported over HTTP only by its kind, with the code and the details of an embedded chat', async () => {
    const known = await inProcess();
    expect(known.details).toEqual([{ field: 'model_server', problem }]);
    const response = await chat('application/json');
    const { error, request_id } = await bodyOf(response);
    const events = eventsOf(await (await chat('text/event-stream')).text());
    const { error: streamed } = events.at(-1)?.body ?? {};
    for (const failure of [error, streamed]) {
      expect(failure).toMatchObject({ code: known.code, details: known.details });
      expect(failure.message).toContain(`The message is kept in session ${failure.session_id}.`);
      expect(failure.message).not.toMatch(untold);
      expect(failure.message_id).toMatch(/^msg_/);
    }
    if (known.retryAfter !== null) expect(response.headers.get('retry-after')).toBe(String(known.retryAfter));
    const line = fixture.log().find((logged) => logged['request_id'] === request_id);
    expect(JSON.stringify(line)).toContain(JSON.stringify(known.message.split('127.0.0.1')[0]).slice(1, -1));
  });
});

test('the error text of a model’s server is in the log of the server, for both forms of the reply', async () => {
  for (const accept of ['application/json', 'text/event-stream']) {
    const before = fixture.log().length;
    const response = await fixture.ask('POST', '/v1/chat', {
      headers: { accept },
      body: { mode: 'rate_limited', message: 'Hi' },
    });
    expect(await response.text()).not.toContain('VENDOR-WORDS');
    const logged = JSON.stringify(fixture.log().slice(before));
    expect(logged).toContain('VENDOR-WORDS');
    expect(logged).toContain(maxTold);
  }
});

test('a mode whose fallback fails too is reported without the texts of either', async () => {
  const response = await fixture.ask('POST', '/v1/chat', { body: { mode: 'bad_gateway', message: 'Hi' } });
  const { error } = await bodyOf(response);
  expect(error?.message).not.toMatch(untold);
  expect(JSON.stringify(fixture.log().at(-1))).toContain('Its fallback failed failed, too');
});

test('the failure of a mode whose fallback replied is in the log of the server, for both forms of the reply', async () => {
  for (const accept of ['application/json', 'text/event-stream']) {
    const before = fixture.log().length;
    const response = await fixture.ask('POST', '/v1/chat', {
      headers: { accept },
      body: { mode: 'with_fallback', message: 'Hi' },
    });
    const text = await response.text();
    expect(text).toContain('Hello');
    expect(text).not.toContain('VENDOR-WORDS');
    const lines = fixture.log().slice(before);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
    expect(lines[0]).toMatchObject({
      request_id: lines[1]?.['request_id'],
      err: { message: expect.stringContaining('VENDOR-WORDS') },
    });
  }
});
