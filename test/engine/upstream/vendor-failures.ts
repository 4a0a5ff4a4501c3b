// The refusals of vendors, as documented or as their servers send them, and the failure that each is read as.
import type { ErrorCode } from '../../../src/service/errors.ts';

export interface VendorFailure {
  readonly vendor: string;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly problem: string;
  readonly code?: ErrorCode;
  /** A part of the message. */
  readonly says?: RegExp;
  readonly hint?: RegExp;
  readonly retryAfter?: number | null;
}

const anthropic = (message: string, code: string) => ({
  error: { code, message, type: 'invalid_request_error' },
});
const openrouter = (code: number, message: string, metadata?: object) => ({
  error: { message, code, metadata },
});
const mistral = (message: unknown, type: string, code: string | null) => ({
  ...{ object: 'error', message, type, param: null, code },
});
const google = (code: number, message: string, status: string, details: readonly object[] = []) => [
  { error: { code, message, status, details } },
];
const xai = (code: string, error: string) => ({ code, error });
const reason = (name: string) => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: name });
const retry = (retryDelay: string) => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
const groq = (message: string) => ({ error: { message, type: 'tokens', code: 'rate_limit_exceeded' } });
const raw = (text: unknown) => openrouter(400, 'Provider returned error', { raw: text, provider_name: 'X' });

const quota = 'You exceeded your current quota, please check your plan and billing details.';
const otherModel = /parley modes set fast --model/;
const lessContext = /--context TOKENS/;

const unknownModel: readonly VendorFailure[] = [
  { vendor: 'Anthropic', status: 404, body: anthropic('model: claude-foo', 'not_found_error') },
  {
    vendor: 'Anthropic, natively',
    status: 404,
    body: { type: 'error', error: { type: 'not_found_error', message: 'model: claude-foo' } },
  },
  { vendor: 'OpenRouter', status: 400, body: openrouter(400, 'foo/bar is not a valid model ID') },
  { vendor: 'OpenRouter', status: 404, body: openrouter(404, 'No endpoints found for foo/bar.') },
  { vendor: 'Mistral', status: 400, body: mistral('Invalid model: x', 'invalid_model', '1500') },
  {
    vendor: 'Azure',
    status: 404,
    body: {
      error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' },
    },
  },
  {
    vendor: 'Groq',
    status: 400,
    body: {
      error: {
        message: 'The model `x` has been decommissioned and is no longer supported.',
        ...{ type: 'invalid_request_error', code: 'model_decommissioned' },
      },
    },
  },
  {
    vendor: 'GitHub Models',
    status: 400,
    body: { error: { code: 'unknown_model', message: 'Unknown model: x', details: 'Unknown model: x' } },
  },
  {
    vendor: 'Together',
    status: 404,
    body: { error: { message: 'Unable to access model x.', type: 'x', code: 'model_not_available' } },
  },
].map((failure) => ({
  ...failure,
  problem: 'unknown_model',
  says: /has no model "test-model"/,
  hint: otherModel,
}));

export const vendorFailures: readonly VendorFailure[] = [
  ...unknownModel,
  {
    vendor: 'Anthropic without such a path',
    status: 404,
    body: anthropic('Not Found', 'not_found_error'),
    problem: 'no_such_address',
  },
  {
    vendor: 'OpenRouter against the account’s rules',
    status: 404,
    body: openrouter(404, 'No endpoints found matching your data policy.'),
    problem: 'refused',
    says: /It says: No endpoints found matching your data policy\.$/,
  },
  {
    vendor: 'Gemini with a wrong key',
    status: 400,
    body: google(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', [
      reason('API_KEY_INVALID'),
    ]),
    problem: 'bad_key',
    says: / key \(400\)\.$/,
    hint: /Check where the key comes from/,
  },
  {
    vendor: 'Gemini with an old key',
    status: 400,
    body: google(400, 'API key expired.', 'INVALID_ARGUMENT', [reason('API_KEY_INVALID')]),
    problem: 'bad_key',
  },
  {
    vendor: 'Gemini',
    status: 400,
    body: google(
      400,
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
      'INVALID_ARGUMENT',
    ),
    problem: 'context_too_long',
    hint: lessContext,
  },
  {
    vendor: 'Gemini',
    status: 429,
    body: google(429, `${quota}\nPlease retry in 36.6s.`, 'RESOURCE_EXHAUSTED', [
      reason('RATE_LIMIT_EXCEEDED'),
      retry('36s'),
    ]),
    problem: 'rate_limited',
    code: 'RATE_LIMITED',
    hint: /^Try again in 36 s\.$/,
    retryAfter: 36,
  },
  {
    vendor: 'Gemini, with a header that knows better',
    status: 429,
    headers: { 'retry-after': '5' },
    body: google(429, quota, 'RESOURCE_EXHAUSTED', [retry('36.2s')]),
    problem: 'rate_limited',
    code: 'RATE_LIMITED',
    retryAfter: 5,
  },
  {
    vendor: 'Gemini, busy',
    status: 503,
    body: google(503, 'The model is overloaded. Please try again later.', 'UNAVAILABLE'),
    problem: 'overloaded',
    code: 'UNAVAILABLE',
    hint: /^Try again in a moment\.$/,
  },
  {
    vendor: 'OpenAI without credit',
    status: 429,
    body: { error: { message: quota, type: 'insufficient_quota', param: null, code: 'insufficient_quota' } },
    problem: 'credit',
    hint: /credit/,
  },
  {
    vendor: 'OpenAI in milliseconds',
    status: 429,
    headers: { 'retry-after-ms': '1500' },
    body: { error: { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' } },
    problem: 'rate_limited',
    code: 'RATE_LIMITED',
    retryAfter: 2,
  },
  {
    vendor: 'OpenAI without a paid account',
    status: 429,
    body: {
      error: {
        message: 'Your account is not active, please check your billing details on our website.',
        ...{ type: 'billing_not_active', param: null, code: 'billing_not_active' },
      },
    },
    problem: 'credit',
    hint: /credit/,
  },
  {
    vendor: 'xAI without credit',
    status: 429,
    body: xai(
      'Some resource has been exhausted',
      'Your team x has either used all available credits or reached its monthly spending limit.',
    ),
    problem: 'credit',
  },
  {
    vendor: 'xAI with a new account',
    status: 403,
    body: xai(
      'The caller does not have permission to execute the specified operation',
      "Your newly created team doesn't have any credits yet.",
    ),
    problem: 'credit',
  },
  {
    vendor: 'xAI',
    status: 400,
    body: xai(
      'Client specified an invalid argument',
      "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
    ),
    problem: 'context_too_long',
    hint: lessContext,
  },
  {
    vendor: 'vLLM',
    status: 400,
    body: {
      object: 'error',
      message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
      ...{ type: 'BadRequestError', param: null, code: 400 },
    },
    problem: 'context_too_long',
    hint: lessContext,
  },
  {
    vendor: 'Bedrock',
    status: 400,
    body: { message: 'Input is too long for requested model.' },
    problem: 'context_too_long',
    hint: lessContext,
  },
  ...['Too many tokens, please wait', 'Too many tokens per day, please wait'].map((beginning) => ({
    vendor: 'Bedrock, busy',
    status: 429,
    body: { message: `${beginning} before trying again.` },
    problem: 'rate_limited',
    code: 'RATE_LIMITED' as const,
  })),
  {
    vendor: 'OpenAI for a model of another of its APIs',
    status: 404,
    body: {
      error: {
        message: 'This model is only supported in v1/responses and not in v1/chat/completions.',
        ...{ type: 'invalid_request_error', param: 'model', code: null },
      },
    },
    problem: 'refused',
    hint: /modes show/,
  },
  {
    vendor: 'OpenAI for a model that is not for chats',
    status: 404,
    body: {
      error: {
        message: 'This is not a chat model and thus not supported in the v1/chat/completions endpoint.',
        ...{ type: 'invalid_request_error', param: 'model', code: null },
      },
    },
    problem: 'refused',
  },
  ...[520, 521, 522, 523, 525, 526, 530].map((status) => ({
    vendor: 'Cloudflare, which does not reach the server',
    ...{ status, body: {}, problem: 'bad_gateway', code: 'UNAVAILABLE' as const },
  })),
  {
    vendor: 'Groq',
    status: 413,
    body: groq(
      'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9221, please reduce your message size and try again.',
    ),
    problem: 'context_too_long',
    hint: lessContext,
  },
  {
    vendor: 'Groq in parts of a second',
    status: 429,
    headers: { 'retry-after': '7.66' },
    body: groq('Rate limit reached for model `x`. Please try again in 7.66s.'),
    problem: 'rate_limited',
    code: 'RATE_LIMITED',
    hint: /^Try again in 8 s\.$/,
    retryAfter: 8,
  },
  {
    vendor: 'Anthropic, busy',
    status: 529,
    headers: { 'retry-after': '30' },
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    problem: 'overloaded',
    code: 'UNAVAILABLE',
    retryAfter: 30,
  },
  {
    vendor: 'a gateway',
    status: 502,
    body: {},
    problem: 'bad_gateway',
    code: 'UNAVAILABLE',
    says: /\(502\)\.$/,
  },
  {
    vendor: 'Mistral in detail',
    status: 422,
    body: mistral(
      {
        detail: [
          { type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs are not permitted', input: 1 },
          { type: 'missing', loc: ['body', 'messages', 0, 'role'], msg: 'Field required' },
        ],
      },
      'invalid_request_error',
      null,
    ),
    problem: 'refused',
    says: /It says: seed: Extra inputs are not permitted; messages\.0\.role: Field required\.$/,
  },
  {
    vendor: 'vLLM in detail',
    status: 422,
    body: { detail: [{ loc: ['body', 'top_k'], msg: 'Input should be an integer' }] },
    problem: 'refused',
    says: /It says: top_k: Input should be an integer\.$/,
  },
  {
    vendor: 'OpenRouter with a provider’s words',
    status: 429,
    body: openrouter(429, 'Provider returned error', {
      raw: 'x:free is rate-limited upstream. Retry shortly.',
    }),
    problem: 'rate_limited',
    code: 'RATE_LIMITED',
    says: /It says: Provider returned error: x:free is rate-limited upstream\. Retry shortly\.$/,
  },
  {
    vendor: 'OpenRouter with a provider’s JSON',
    status: 400,
    body: raw('{"error":{"message":"This model\'s maximum context length is 4096 tokens","code":400}}'),
    problem: 'context_too_long',
    says: /It says: Provider returned error: This model's maximum context length is 4096 tokens\.$/,
  },
  {
    vendor: 'OpenRouter with a provider’s page',
    status: 400,
    body: raw('<html>Bad</html>'),
    problem: 'refused',
    says: /It says: Provider returned error\.$/,
  },
  {
    vendor: 'OpenRouter with the same twice',
    status: 400,
    body: openrouter(400, 'top_k is too large.', { raw: 'top_k is too large' }),
    problem: 'refused',
    says: /It says: top_k is too large\.$/,
  },
  {
    vendor: 'Cloudflare’s models',
    status: 400,
    body: { errors: [{ message: 'AiError: Bad input', code: 5006 }], success: false, result: {} },
    problem: 'refused',
    says: /It says: AiError: Bad input\.$/,
  },
  ...[{ error: 'Model is busy' }, { error: { message: 'Model is busy' } }, { message: 'Model is busy' }].map(
    (detail) => ({
      vendor: 'DeepInfra and others in an object of detail',
      ...{ status: 429, body: { detail }, problem: 'rate_limited', code: 'RATE_LIMITED' as const },
      says: /It says: Model is busy\.$/,
    }),
  ),
  {
    vendor: 'LM Studio without such a path',
    status: 404,
    body: { error: 'Unexpected endpoint or method. (POST /chat/completions)' },
    problem: 'no_such_address',
  },
];
