// What went wrong at a model's server, and what to do about it. Servers tell it by status, by code, by type or by words; here it
// becomes one failure that names the mode. No part of a key is ever in it.
import { HttpFailure } from '../../http/http-failure.ts';
import { isLoopback } from '../../http/loopback.ts';
import { type ErrorCode, type ErrorDetail, ParleyError } from '../../service/errors.ts';
import type { ModeSettings } from '../../service/mode-settings.ts';
import { type ModelServerProblem, problemOfHttp, problemOfKind } from './model-server-problem.ts';
import { type Kind, readUpstreamError } from './upstream-error-reading.ts';

/** What the failures of one mode have in common. */
export interface Upstream {
  readonly settings: ModeSettings;
  /** Null for a server that asks for none. */
  readonly key: string | null;
}

export interface UpstreamError {
  /** Null for an error inside of a stream that began well. */
  readonly status: number | null;
  readonly retryAfter: number | null;
  /** The body, or what stood in `error`. */
  readonly text: string;
}

export function upstreamFailure(upstream: Upstream, error: UpstreamError): ParleyError {
  const { kind, status, message, retryAfter: delay } = readUpstreamError(error.status, error.text);
  const retryAfter = error.retryAfter ?? delay;
  const quoted = kind === 'key' ? '' : quote(message, upstream.key);
  const number = status === null ? '' : ` (${status})`;
  const said = quoted === '' ? '' : ` It says: ${quoted}${endsSentence.test(quoted) ? '' : '.'}`;
  const wait = retryAfter === null ? 'a moment' : `${retryAfter} s`;
  const [what, hint] = words(upstream.settings, wait)[kind];
  return new ParleyError(errorCodes[kind] ?? 'ENGINE_FAILED', `${named(upstream, what)}${number}.${said}`, {
    hint,
    details: detailsOf(problemOfKind[kind]),
    ...(retryAfter !== null && { retryAfter }),
  });
}

/** Of a quoted text: it needs no full stop of ours. */
const endsSentence = /[.!?…。！？]["'”’»)\]]*$/;

const errorCodes: Partial<Record<Kind, ErrorCode>> = {
  rate: 'RATE_LIMITED',
  overload: 'UNAVAILABLE',
  timeout: 'ENGINE_TIMEOUT',
};

/** For a program, which tells kinds of failure apart by a name that stays. */
function detailsOf(problem: ModelServerProblem): readonly ErrorDetail[] {
  return [{ field: 'model_server', problem }];
}

/** A key that cannot be read: the failure says why, and holds no part of it. */
export function keyless(error: unknown): unknown {
  if (!(error instanceof ParleyError)) return error;
  const { code, message, hint } = error;
  return new ParleyError(code, message, { hint, details: detailsOf('no_key'), cause: error });
}

/** A reply that a filter of the server stopped. */
export function filtered(upstream: Upstream): ParleyError {
  const [what, hint] = words(upstream.settings, '').filter;
  const details = detailsOf('content_filter');
  return new ParleyError('ENGINE_FAILED', `${named(upstream, what)}.`, { hint, details });
}

/** Any other end that no reply should have. `what` completes "its server …". */
export function badReply(
  upstream: Upstream,
  problem: ModelServerProblem,
  what: string,
  hint = 'Try again.',
): ParleyError {
  return new ParleyError('ENGINE_FAILED', `${named(upstream, what)}.`, { hint, details: detailsOf(problem) });
}

export function silent(upstream: Upstream, what: string, setting: string): ParleyError {
  const { name } = upstream.settings;
  return new ParleyError('ENGINE_TIMEOUT', `${named(upstream, what)}.`, {
    hint: `Try again, or allow more: --timeout SECONDS, or parley modes set ${name} ${setting} SECONDS`,
    details: detailsOf('timeout'),
  });
}

/** A request that got no answer, or only a part of one. */
export function unanswered(upstream: Upstream, failure: HttpFailure): ParleyError {
  const { name } = upstream.settings;
  const address = `Check its address: parley modes show ${name}`;
  const hints: Partial<Record<HttpFailure['kind'], string>> = {
    refused: isLocal(upstream.settings) ? `${startOf(upstream.settings)} ${address}` : address,
    unknown_host: address,
    redirect: `Nothing was sent there. If you trust that place: parley modes set ${name} --base-url URL`,
    untrusted: 'If you trust the server, name its certificate: --ca FILE, or NODE_EXTRA_CA_CERTS',
    unreadable: address,
    proxy: 'Check HTTPS_PROXY and HTTP_PROXY; NO_PROXY names the hosts that need none.',
  };
  const code = failure.kind === 'timeout' ? 'ENGINE_TIMEOUT' : 'ENGINE_FAILED';
  const message = quote(failure.message, upstream.key);
  const isCut = failure.sent && failure.kind !== 'redirect';
  return new ParleyError(
    code,
    `The mode ${name} got ${isCut ? 'no complete reply' : 'no reply'}: ${message}.`,
    {
      hint: hints[failure.kind] ?? 'Try again.',
      details: detailsOf(problemOfHttp[failure.kind]),
      // Its own cause may hold the request, and so the key.
      cause: new HttpFailure(failure.kind, failure.sent, message),
    },
  );
}

/** What a server sent in place of a reply: a page for people, most often. */
export function notAnApi(upstream: Upstream, contentType: string | null): ParleyError {
  const type = (contentType ?? '').split(';')[0]?.trim() || 'no type';
  const { name } = upstream.settings;
  return badReply(
    upstream,
    'not_an_api',
    `answered with ${quote(type, upstream.key)}, not with a chat completion`,
    `Check its address; it must be the base of an OpenAI-compatible API: parley modes show ${name}`,
  );
}

function named({ settings }: Upstream, what: string): string {
  return `The mode ${settings.name} failed: its server ${new URL(settings.base_url).host} ${what}`;
}

function words(
  { name, model, context_tokens, base_url }: ModeSettings,
  wait: string,
): Readonly<Record<Kind, readonly [string, string]>> {
  const show = `parley modes show ${name}`;
  const models = isOllama(base_url) ? `ollama pull ${model}, or choose` : 'Choose';
  return {
    key: ['does not accept the key', `Check where the key comes from: ${show}`],
    forbidden: ['refuses the request', `Check what the key is allowed to do: ${show}`],
    credit: ['asks for payment first', 'Add credit to the account of the key, or use another mode.'],
    model: [
      `has no model ${JSON.stringify(model)}`,
      `${models} another: parley modes set ${name} --model MODEL`,
    ],
    address: ['offers no chat completions at that address', `Check its address: ${show}`],
    context: [
      'says that the conversation is too long for the model',
      `Send it less of the conversation: parley modes set ${name} --context TOKENS (now ${context_tokens}), or begin a new session.`,
    ],
    rate: ['accepts no more requests for now', `Try again in ${wait}.`],
    filter: ['stopped the reply with its content filter', 'Say it in other words, or use another mode.'],
    overload: ['is overloaded or not ready', `Try again in ${wait}.`],
    gateway: ['is overloaded or not ready', 'Try again in a moment.'],
    timeout: ['did not answer in time', 'Try again.'],
    refused: ['refuses the request', `Check the settings of the mode: ${show}`],
    failed: ['failed', 'Try again.'],
  };
}

const mostCharacters = 300;
/** What begins like the keys of well-known vendors. */
const keyLike = /\b(sk-|gsk_|xai-|AIza|pplx-|hf_)\S+/g;

/** A text of the server's, on one line, cut, and without the key or a large part of it. */
function quote(text: string, key: string | null): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(keyLike, '[key]');
  const hidden = hide(line, key);
  return hidden.length > mostCharacters ? `${hidden.slice(0, mostCharacters).trimEnd()}…` : hidden;
}

const tellingLength = 6;

/** Servers like to repeat how a key begins and how it ends. */
function hide(text: string, key: string | null): string {
  if (key === null || key === '') return text;
  const ends = [key.slice(0, tellingLength), key.slice(-tellingLength)];
  const words = text.split(' ').map((word) => (ends.some((end) => word.includes(end)) ? '[key]' : word));
  return words.join(' ').replaceAll(key, '[key]');
}

function isLocal({ base_url }: ModeSettings): boolean {
  return isLoopback(new URL(base_url).hostname);
}

/** By the port that each listens at when nothing else is said. */
function startOf({ base_url }: ModeSettings): string {
  const commands: Readonly<Record<string, string>> = {
    '11434': 'Ollama: ollama serve',
    '8080': 'llama.cpp: llama-server -m model.gguf',
    '1234': 'LM Studio: lms server start',
  };
  const command = commands[new URL(base_url).port];
  return `Start the model server there${command === undefined ? '' : ` (${command})`}.`;
}

function isOllama(baseUrl: string): boolean {
  return new URL(baseUrl).port === '11434';
}
