// The refusals of vendors, each read as one kind of failure: a message and a hint for people, a detail for programs.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { nextStep } from '../../../src/cli/next-step.ts';
import { ParleyError } from '../../../src/service/errors.ts';
import { modelServerProblems } from '../../../src/service/model-server-problem.ts';
import { chunk, sendStream, sse, testKey } from '../../support/model-server.ts';
import { sendJson } from '../../support/scripted-server.ts';
import { type StubScript, UpstreamStubs } from '../../support/upstream-stubs.ts';
import { collectEvents } from '../engine-suite.ts';
import { vendorFailures } from './vendor-failures.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

const hello = { history: [], message: 'Hello' };

async function failureAt(script: StubScript, options = {}) {
  const { engine } = await stubs.engineOver(script, { name: 'fast', key: 'env:KEY' }, options);
  return collectEvents(engine, hello).then(
    () => expect.unreachable('a failure was expected'),
    (error: ParleyError) => error,
  );
}

const named = (problem: string) => [{ field: 'model_server', problem }];

describe('an answer of', () => {
  it.each(vendorFailures)('$vendor ($status) is reported as $problem', async (failure) => {
    const { status, headers = {}, body, problem, code = 'ENGINE_FAILED', says, hint, retryAfter } = failure;
    const reported = await failureAt((response) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body)),
    );
    expect(reported).toMatchObject({ code, details: named(problem) });
    expect(reported.message).toMatch(says ?? /^The mode fast failed: its server /);
    expect(nextStep(reported)).toMatch(hint ?? /./);
    expect(reported.retryAfter).toBe(retryAfter ?? null);
  });

  it.each<readonly [string, object]>([
    ['raw words', { error: { message: 'Bad', metadata: { raw: `the key ${testKey} is bad` } } }],
    ['raw JSON', { error: { message: 'Bad', metadata: { raw: JSON.stringify({ error: testKey }) } } }],
    ['detail', { detail: [{ loc: ['header', testKey], msg: `${testKey.slice(0, 9)}… is bad` }] }],
    ['detail in a message', { message: { detail: [{ loc: [], msg: `no ${testKey}` }] } }],
  ])('somebody who repeats the key in %s is quoted without it', async (_where, body) => {
    const failure = await failureAt((response) => sendJson(response, body, 400));
    expect(failure.message).toContain('[key]');
    expect(failure.message).not.toMatch(/canary|abcdef/);
  });

  it.each(['ollama', 'x', 'sk-no-key-required', 'not-needed', 'lm-studio'])(
    'a server that takes any key is quoted in full, although its words are those of the key %s',
    async (key) => {
      const message = 'The next field is required: needed by ollama and LM Studio (lm-studio)';
      const failure = await failureAt((response) => sendJson(response, { error: { message } }, 400), {
        readKey: async () => key,
      });
      expect(failure.message).toContain(
        key === 'lm-studio' ? message.replace(key, '[key]') : `It says: ${message}.`,
      );
    },
  );

  it.each<readonly [string, string]>([
    ['percent-encoded', [...testKey].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')],
    ['in Base64', Buffer.from(`Bearer ${testKey}`).toString('base64')],
    ['in hexadecimal', Buffer.from(testKey).toString('hex')],
    ['in upper case', testKey.toUpperCase()],
    ['with spaces', [...testKey].join(' ')],
  ])('somebody who repeats the key %s is quoted without it', async (_form, repeated) => {
    const scripts: readonly StubScript[] = [
      (response) => sendJson(response, { error: { message: `Bad: ${repeated}` } }, 400),
      (response) => response.writeHead(307, { location: `/x/${encodeURI(repeated)}` }).end(),
      (response) => sendStream(response, sse({ error: { message: `Bad: ${repeated}` } })),
    ];
    for (const script of scripts) {
      const failure = await failureAt(script);
      expect(failure.message).toContain('[key]');
      expect([failure.message, String(failure.cause)].join()).not.toContain(repeated.slice(12, 40));
    }
  });
});

describe('for a program, a failure', () => {
  const reply = (...values: readonly (object | string)[]): StubScript => {
    return (response) => sendStream(response, sse(...values));
  };

  it.each<readonly [string, StubScript, string]>([
    ['of the filter', reply(chunk({}, 'content_filter')), 'content_filter'],
    ['without an end', reply(chunk({ content: 'Half' })), 'broken_off'],
    ['of a piece that is no JSON', (response) => sendStream(response, 'data: x\n\n'), 'bad_reply'],
    ['without a word', reply(chunk({}, 'stop')), 'empty_reply'],
    ['by a page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(), 'not_an_api'],
    ['by a redirect', (response) => response.writeHead(307, { location: '/x' }).end(), 'redirect'],
    ['by hanging up', (response) => response.destroy(), 'broken_off'],
  ])('%s has a name', async (_what, script, problem) => {
    const code = problem === 'broken_off' ? 'UNAVAILABLE' : 'ENGINE_FAILED';
    expect(await failureAt(script)).toMatchObject({ code, details: named(problem) });
  });

  it('without a server, a timely reply or a key has a name, too', async () => {
    const gone = await stubs.serve(() => {});
    await gone.close();
    await expect(collectEvents(stubs.engine(gone.url), hello)).rejects.toMatchObject({
      details: named('unreachable'),
    });
    expect(await failureAt(() => {}, { timeout: 0.1 })).toMatchObject({
      ...{ code: 'ENGINE_TIMEOUT', details: named('timeout') },
    });
    const readKey = () => Promise.reject(new ParleyError('ENGINE_FAILED', 'No key.', { hint: 'Set it.' }));
    expect(await failureAt(() => {}, { readKey })).toMatchObject({
      ...{ message: 'No key.', hint: 'Set it.', details: named('no_key') },
    });
  });

  it('has one of the names that docs/json.md lists, and each of those occurs', () => {
    const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
    const [, table = ''] = read('docs/json.md').split('| problem | |\n| --- | --- |\n');
    const listed = Array.from((table.split('\n\n')[0] ?? '').matchAll(/^\| `(\w+)`/gm), ([, name]) => name);
    expect(modelServerProblems).toHaveLength(22);
    expect(listed.sort()).toEqual(modelServerProblems.toSorted());
  });

  it('within a stream has a name: overload, with its wait, or a limit', async () => {
    const overload = `event: error\n${sse({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}`;
    expect(await failureAt((response) => sendStream(response, overload))).toMatchObject({
      ...{ code: 'UNAVAILABLE', details: named('overloaded') },
    });
    const details = [{ retryDelay: '3.2s' }];
    const limit = { error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED', details } };
    expect(await failureAt(reply(limit))).toMatchObject({ code: 'RATE_LIMITED', retryAfter: 4 });
    const flat = {
      object: 'error',
      message: 'The model `x` does not exist.',
      type: 'NotFoundError',
      code: 404,
    };
    expect(await failureAt(reply(flat))).toMatchObject({ details: named('unknown_model') });
  });
});

describe('a model that asks for a tool', () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };

  it.each<readonly [string, object[]]>([
    ['alone', [chunk({ content: null, tool_calls: [call] }), chunk({}, 'tool_calls')]],
    ['as in earlier days', [chunk({ function_call: { name: 'f' } }), chunk({}, 'function_call')]],
    [
      'after white space',
      [chunk({ content: '\n\n' }), chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')],
    ],
    ['after its notes', [chunk({ reasoning: 'Hm' }), chunk({ tool_calls: [call] }), chunk({}, 'stop')]],
  ])('%s is reported as such', async (_how, chunks) => {
    expect(await failureAt((response) => sendStream(response, sse(...chunks, '[DONE]')))).toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringMatching(/called a tool, and Parley offers no tools\.$/),
      hint: expect.stringMatching(/another model/),
      details: named('tool_call'),
    });
  });

  it('beside its words has replied', async () => {
    const body = sse(chunk({ content: 'Let me see.', tool_calls: [call] }), chunk({}, 'tool_calls'));
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    expect((await collectEvents(engine, hello)).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
  });
});

it('a reply of white space only is empty', async () => {
  const body = sse(chunk({ content: ' \n' }), chunk({ content: '\t' }), chunk({}, 'stop'), '[DONE]');
  const failure = await failureAt((response) => sendStream(response, body));
  expect(failure).toMatchObject({
    message: expect.stringMatching(/empty reply\.$/),
    details: named('empty_reply'),
  });
});

describe('a stream of a gateway goes on', () => {
  const events = [chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop')].map((one) =>
    sse(one),
  );

  it.each([
    ['with signs of life', 'event: ping\ndata: {"type":"ping"}\n\n', '[DONE]'],
    ['with notes of its own', sse({ id: 'x', provider: 'Y', metadata: { cost: 1 } }), '[DONE]'],
    ['with white space about its last word', '', '[DONE] '],
  ])('%s', async (_what, between, last) => {
    const body = [between, ...events.flatMap((event) => [event, between]), `data: ${last}\n\n`].join('');
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    const read = await collectEvents(engine, hello);
    expect(read.map((event) => (event.type === 'text' ? event.text : '')).join('')).toBe('Hello');
  });

  it.each([{ error: {} }, { error: null }, { error: '' }])('with %j in each piece', async (field) => {
    const body = sse(
      ...[chunk({ content: 'Hello' }), chunk({}, 'stop')].map((one) => ({ ...one, ...field })),
    );
    const { engine } = await stubs.engineOver((response) => sendStream(response, body));
    expect(await collectEvents(engine, hello)).toHaveLength(2);
  });

  it('also if only its last chunk says that it ends', async () => {
    const { engine } = await stubs.engineOver((response) =>
      sendStream(response, `${events[0]}data: [DONE] \n\n`),
    );
    expect((await collectEvents(engine, hello)).at(-1)).toMatchObject({ type: 'finish', reason: 'stop' });
  });

  it.each(['data: []\n\n', 'data: null\n\n', 'data: {"choi\n\n', 'data: {"error":{}}\n\n'])(
    'but not with %j',
    async (piece) => {
      const failure = await failureAt((response) => sendStream(response, `${piece}${events.join('')}`));
      expect(failure).toMatchObject({ code: 'ENGINE_FAILED' });
    },
  );
});
