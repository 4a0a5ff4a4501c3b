// The forms of streams as the vendors document them; none is a recording. Each public page is named. They differ in roles, empty chunks, the place
// of reasoning and usage, the end of a stream, and other events.

export interface VendorStream {
  readonly vendor: string;
  /** The page that documents the form. */
  readonly page: string;
  /** The base URL of that documentation, as a path. */
  readonly base: string;
  readonly path: string;
  readonly stream: string;
  readonly text: string;
  readonly reasoning: string;
  readonly reason: 'stop' | 'length';
  readonly usage: readonly [number, number] | null;
}

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const done = 'data: [DONE]\n\n';

const openai = (choices: readonly object[], rest: object = {}) =>
  event({
    ...{ id: 'chatcmpl-123', object: 'chat.completion.chunk', created: 1694268190, model: 'gpt-4o-mini' },
    ...{ service_tier: 'default', system_fingerprint: 'fp_44709d6fcb', choices, usage: null, ...rest },
  });

const ollama = (delta: object, finish_reason: string | null = null) =>
  event({
    ...{ id: 'chatcmpl-712', object: 'chat.completion.chunk', created: 1755600000, model: 'qwen3:8b' },
    ...{ system_fingerprint: 'fp_ollama', choices: [{ index: 0, delta, finish_reason }] },
  });

const llama = (choices: readonly object[], rest: object = {}) =>
  event({
    ...{
      choices,
      created: 1755600000,
      id: 'chatcmpl-Q1',
      model: 'gpt-3.5-turbo',
      system_fingerprint: 'b6000',
    },
    ...{ object: 'chat.completion.chunk', ...rest },
  });

const openrouter = (delta: object, finish: string | null, rest: object = {}) =>
  event({
    ...{ id: 'gen-1755600000-x', provider: 'Example', model: 'deepseek/deepseek-r1' },
    ...{ object: 'chat.completion.chunk', created: 1755600000 },
    choices: [{ index: 0, delta, finish_reason: finish, native_finish_reason: finish, logprobs: null }],
    ...rest,
  });

const groq = (delta: object, finish_reason: string | null, rest: object = {}) =>
  event({
    ...{
      id: 'chatcmpl-f5',
      object: 'chat.completion.chunk',
      created: 1730241104,
      model: 'llama-3.3-70b-versatile',
    },
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...rest,
  });

const mistral = (delta: object, finish_reason: string | null, rest: object = {}) =>
  event({
    ...{
      id: 'cmpl-e5',
      object: 'chat.completion.chunk',
      created: 1755600000,
      model: 'magistral-medium-latest',
    },
    choices: [{ index: 0, delta, finish_reason }],
    ...rest,
  });

const deepseek = (delta: object, finish_reason: string | null, rest: object = {}) =>
  event({
    ...{ id: '1f63', object: 'chat.completion.chunk', created: 1718345013, model: 'deepseek-reasoner' },
    ...{
      system_fingerprint: 'fp_a49d',
      choices: [{ index: 0, delta, finish_reason, logprobs: null }],
      ...rest,
    },
  });

const gemini = (delta: object, finish_reason: string | null, rest: object = {}) =>
  event({
    choices: [{ delta, ...(finish_reason !== null && { finish_reason }), index: 0 }],
    ...{ created: 1755600000, id: 'x', model: 'gemini-2.5-flash', object: 'chat.completion.chunk', ...rest },
  });

export const vendorStreams: readonly VendorStream[] = [
  {
    vendor: 'OpenAI',
    page: 'https://platform.openai.com/docs/api-reference/chat-streaming',
    base: '/v1',
    path: '/v1/chat/completions',
    stream:
      openai([
        {
          index: 0,
          delta: { role: 'assistant', content: '', refusal: null },
          logprobs: null,
          finish_reason: null,
        },
      ]) +
      openai([{ index: 0, delta: { content: 'Hello' }, logprobs: null, finish_reason: null }]) +
      openai([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]) +
      openai([], {
        usage: {
          ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
          completion_tokens_details: { reasoning_tokens: 0 },
        },
      }) +
      done,
    ...{ text: 'Hello', reasoning: '', reason: 'stop', usage: [19, 10] },
  },
  {
    vendor: 'Ollama',
    page: 'https://docs.ollama.com/api/openai-compatibility',
    base: '/v1/',
    path: '/v1/chat/completions',
    stream:
      ollama({ role: 'assistant', content: '', reasoning: 'Greet.' }) +
      ollama({ role: 'assistant', content: 'Hello' }) +
      ollama({ role: 'assistant', content: '' }, 'stop') +
      event({
        ...{ id: 'chatcmpl-712', object: 'chat.completion.chunk', model: 'qwen3:8b', choices: [] },
        usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 },
      }) +
      done,
    ...{ text: 'Hello', reasoning: 'Greet.', reason: 'stop', usage: [12, 8] },
  },
  {
    vendor: 'llama.cpp server',
    page: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    base: '/v1',
    path: '/v1/chat/completions',
    stream:
      llama([{ finish_reason: null, index: 0, delta: { role: 'assistant', content: null } }]) +
      llama([{ finish_reason: null, index: 0, delta: { reasoning_content: 'Greet.' } }]) +
      llama([{ finish_reason: null, index: 0, delta: { content: 'Hello' } }]) +
      llama([{ finish_reason: 'length', index: 0, delta: {} }]) +
      llama([], {
        usage: { completion_tokens: 8, prompt_tokens: 12, total_tokens: 20 },
        timings: { prompt_n: 1, predicted_n: 8, predicted_per_second: 49.5 },
      }) +
      done,
    ...{ text: 'Hello', reasoning: 'Greet.', reason: 'length', usage: [12, 8] },
  },
  {
    vendor: 'OpenRouter',
    page: 'https://openrouter.ai/docs/api-reference/streaming',
    base: '/api/v1',
    path: '/api/v1/chat/completions',
    stream:
      ': OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n' +
      openrouter({ role: 'assistant', content: '', reasoning: 'Greet.', reasoning_details: [] }, null) +
      openrouter({ role: 'assistant', content: 'Hello' }, null) +
      openrouter({ role: 'assistant', content: '' }, 'stop') +
      openrouter({ role: 'assistant', content: '' }, null, {
        usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20, cost: 0.00001 },
      }) +
      done,
    ...{ text: 'Hello', reasoning: 'Greet.', reason: 'stop', usage: [12, 8] },
  },
  {
    vendor: 'Groq',
    page: 'https://console.groq.com/docs/api-reference#chat-create',
    base: '/openai/v1',
    path: '/openai/v1/chat/completions',
    stream:
      groq({ role: 'assistant', content: '' }, null, { x_groq: { id: 'req_01' } }) +
      groq({ content: 'Hello' }, null) +
      groq({}, 'stop', {
        x_groq: { id: 'req_01', usage: { prompt_tokens: 12, completion_tokens: 8, total_time: 0.01 } },
      }) +
      done,
    ...{ text: 'Hello', reasoning: '', reason: 'stop', usage: [12, 8] },
  },
  {
    vendor: 'Mistral',
    page: 'https://docs.mistral.ai/capabilities/reasoning',
    base: '/v1',
    path: '/v1/chat/completions',
    stream:
      mistral({ role: 'assistant', content: '' }, null) +
      mistral({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Greet.' }] }] }, null) +
      mistral({ content: 'Hello' }, null) +
      mistral({ content: '' }, 'model_length', {
        usage: { prompt_tokens: 12, total_tokens: 20, completion_tokens: 8 },
      }) +
      done,
    ...{ text: 'Hello', reasoning: 'Greet.', reason: 'length', usage: [12, 8] },
  },
  {
    vendor: 'DeepSeek',
    page: 'https://api-docs.deepseek.com/api/create-chat-completion',
    base: '',
    path: '/v1/chat/completions',
    stream:
      ': keep-alive\n\n' +
      deepseek({ role: 'assistant', content: null, reasoning_content: 'Greet.' }, null) +
      deepseek({ content: 'Hello', reasoning_content: null }, null) +
      deepseek({ content: '', reasoning_content: null }, 'stop', {
        usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20, prompt_cache_hit_tokens: 0 },
      }) +
      done,
    ...{ text: 'Hello', reasoning: 'Greet.', reason: 'stop', usage: [12, 8] },
  },
  {
    vendor: 'Gemini',
    page: 'https://ai.google.dev/gemini-api/docs/openai',
    base: '/v1beta/openai/',
    path: '/v1beta/openai/chat/completions',
    stream:
      gemini({ content: 'Hel', role: 'assistant' }, null) +
      gemini({ content: 'lo', role: 'assistant' }, 'stop', {
        usage: { completion_tokens: 8, prompt_tokens: 12, total_tokens: 20 },
      }) +
      done,
    ...{ text: 'Hello', reasoning: '', reason: 'stop', usage: [12, 8] },
  },
];
