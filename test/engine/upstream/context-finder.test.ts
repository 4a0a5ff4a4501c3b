// Where model servers report the size of a context.
import { afterEach, expect, test } from 'vitest';
import { findContext } from '../../../src/engine/upstream/context-finder.ts';
import { modeSettings, upstreamOptions } from '../../support/model-server.ts';
import { sendJson } from '../../support/scripted-server.ts';
import { UpstreamStubs } from '../../support/upstream-stubs.ts';

const stubs = new UpstreamStubs();
afterEach(() => stubs.close());

type Answers = Readonly<Record<string, unknown>>;

/** The response of a server with these paths, and 404 for all others. */
async function sizeReportedBy(answers: Answers, settings = {}) {
  const server = await stubs.serve((response, { method, path }) => {
    const answer = answers[`${method} ${path}`];
    sendJson(response, answer ?? {}, answer === undefined ? 404 : 200);
  });
  const mode = modeSettings(`${server.url}/v1`, { model: 'm', ...settings });
  const size = await findContext(mode, upstreamOptions(), new AbortController().signal);
  return { size, requests: server.requests };
}

const other = { id: 'other', context_length: 1000 };

test.each<[string, Answers, number, string]>([
  [
    'OpenRouter',
    { 'GET /v1/models': { data: [other, { id: 'm', context_length: 131_072 }] } },
    131_072,
    '/models',
  ],
  ['Groq', { 'GET /v1/models': { data: [{ id: 'm', context_window: 32_768 }] } }, 32_768, '/models'],
  ['Mistral', { 'GET /v1/models': { data: [{ id: 'm', max_context_length: 40_000 }] } }, 40_000, '/models'],
  ['vLLM', { 'GET /v1/models': { data: [{ id: 'm', max_model_len: 4096 }] } }, 4096, '/models'],
  [
    'llama.cpp, in its list',
    { 'GET /v1/models': { data: [{ id: 'm', meta: { n_ctx: 2048 } }] } },
    2048,
    '/models',
  ],
  ['llama.cpp', { 'GET /props': { default_generation_settings: { n_ctx: 16_384 } } }, 16_384, '/props'],
  ['Ollama', { 'POST /api/show': { model_info: { 'qwen3.context_length': 40_960 } } }, 40_960, '/api/show'],
  [
    'Ollama, as the model is started',
    {
      'POST /api/show': {
        parameters: 'stop  "a"\nnum_ctx    8000',
        model_info: { 'a.context_length': 40_960 },
      },
    },
    8000,
    '/api/show',
  ],
])('%s', async (_vendor, answers, tokens, place) => {
  expect((await sizeReportedBy(answers)).size).toEqual({ tokens, place });
});

test.each<[string, Answers]>([
  ['no number', { 'GET /v1/models': { data: [{ id: 'm' }, other] } }],
  [
    'a number that is none',
    { 'GET /v1/models': { data: [{ id: 'm', context_length: '131072' }] }, 'GET /props': { n_ctx: 0 } },
  ],
  ['something else', { 'GET /v1/models': [1], 'GET /props': null, 'POST /api/show': { model_info: 'none' } }],
])('a server that reports %s reports no size', async (_what, answers) => {
  const { size, requests } = await sizeReportedBy(answers);
  expect(size).toBeNull();
  expect(requests.map(({ path }) => path)).toEqual(['/v1/models', '/props', '/api/show']);
});

test('a missing server reports nothing, and a signal ends the request', async () => {
  const gone = await stubs.serve(() => {});
  await gone.close();
  const signal = new AbortController().signal;
  expect(await findContext(modeSettings(gone.url), upstreamOptions(), signal)).toBeNull();
  const silent = await stubs.serve(() => {});
  const stopped = findContext(
    modeSettings(silent.url),
    upstreamOptions(),
    AbortSignal.abort(new Error('enough')),
  );
  await expect(stopped).rejects.toThrow('enough');
});

test('an engine asks once, and subtracts the size of its system prompt', async () => {
  const { server, engine } = await stubs.engineOver(
    (response) => sendJson(response, { data: [{ id: 'test-model', context_length: 20_000 }] }),
    { system: 'a'.repeat(300) },
  );
  expect(engine.contextTokens).toBe(8192 - 104);
  const { signal } = new AbortController();
  expect(await engine.learnContextTokens?.(signal)).toBe(20_000 - 104);
  expect(await engine.learnContextTokens?.(signal)).toBe(20_000 - 104);
  expect(server.requests).toHaveLength(1);
  expect(stubs.engine(server.url, { context_tokens: 4096 }).learnContextTokens).toBeUndefined();
});

test('an engine asks again a minute after a request that brought no size', async () => {
  let now = 0;
  let isReady = false;
  const server = await stubs.serve((response) =>
    isReady
      ? sendJson(response, { data: [{ id: 'test-model', context_length: 20_000 }] })
      : sendJson(response, {}, 503),
  );
  const engine = stubs.engine(server.url, {}, { now: () => now });
  const { signal } = new AbortController();
  expect(await engine.learnContextTokens?.(signal)).toBe(8192);
  isReady = true;
  const { length } = server.requests;
  now += 59_999;
  expect(await engine.learnContextTokens?.(signal)).toBe(8192);
  expect(server.requests).toHaveLength(length);
  now += 1;
  expect(await engine.learnContextTokens?.(signal)).toBe(20_000);
});
