// The failures of a model's server, each with its remedy. A failure names the mode, and contains no part of a key.
import { HttpFailure, type HttpFailureKind } from '../../http/http-failure.ts';
import { redactKey } from '../../http/key-redaction.ts';
import { isLoopback } from '../../http/loopback.ts';
import { duration } from '../../service/duration.ts';
import { type ErrorCode, type ErrorDetail, type ErrorFacts, ParleyError } from '../../service/errors.ts';
import type { ModeSettings } from '../../service/mode-settings.ts';
import { localModelServers, type ModelProgram } from '../../service/model-server.ts';
import type { ModelServerProblem } from '../../service/model-server-problem.ts';
import { quoted } from '../../service/quoted.ts';
import type { ModeSubject, Remedy } from '../../service/remedy.ts';
import { parseUpstreamError, type ReportedProblem } from './upstream-error-parser.ts';

/** The facts that all failures of one mode need. */
export interface Upstream {
  readonly settings: ModeSettings;
  /** Null for a server that needs no key. */
  readonly key: string | null;
}

/** The next step for the user: plain words, or a remedy. */
type Advice = string | Remedy;

function adviceFacts(advice: Advice): Pick<ErrorFacts, 'hint' | 'remedy'> {
  return typeof advice === 'string' ? { hint: advice } : { remedy: advice };
}

interface UpstreamError {
  /** The status of the response; null for an error inside a stream that began with success. */
  readonly status: number | null;
  readonly retryAfter: number | null;
  /** The body of the response, or the error inside the stream. */
  readonly text: string;
}

/** The failure for an error that the server reports. */
export function upstreamFailure(upstream: Upstream, error: UpstreamError): ParleyError {
  const { status, message, ...parsed } = parseUpstreamError(error.status, error.text);
  const retryAfter = error.retryAfter ?? parsed.retryAfter;
  const isAboutKey = parsed.problem === 'bad_key';
  const words = isAboutKey ? '' : quote(message, upstream.key);
  const statusText = status === null ? '' : ` (${status})`;
  const quotation = words === '' ? '' : ` It says: ${words}${endsSentence.test(words) ? '' : '.'}`;
  const problem = isAboutKey && upstream.settings.key === null ? 'no_key' : parsed.problem;
  const wait = retryAfter ? duration(retryAfter) : 'a moment';
  const [predicate, advice] = failureTexts(upstream.settings, wait)[problem];
  return new ParleyError(codeOf(problem), `${withServer(upstream, predicate)}${statusText}.${quotation}`, {
    ...adviceFacts(advice),
    details: detailsOf(problem),
    ...(retryAfter !== null && { retryAfter }),
  });
}

/** Matches a quoted text that needs no full stop. */
const endsSentence = /[.!?…。！？]["'”’»)\]]*$/;

/** The codes of transient failures. All others are `ENGINE_FAILED`. */
const transientCodes: Partial<Record<ModelServerProblem, ErrorCode>> = {
  rate_limited: 'RATE_LIMITED',
  overloaded: 'UNAVAILABLE',
  bad_gateway: 'UNAVAILABLE',
  unreachable: 'UNAVAILABLE',
  broken_off: 'UNAVAILABLE',
  timeout: 'ENGINE_TIMEOUT',
};

function codeOf(problem: ModelServerProblem): ErrorCode {
  return transientCodes[problem] ?? 'ENGINE_FAILED';
}

/** The problem as a stable identifier for programs. */
function detailsOf(problem: ModelServerProblem): readonly ErrorDetail[] {
  return [{ field: 'model_server', problem }];
}

/** The failure for a key that cannot be read. Its message names the reason and contains no part of the key. */
export function keyFailure(error: unknown): unknown {
  if (!(error instanceof ParleyError)) return error;
  return error.with({ details: detailsOf('no_key') });
}

/** The failure for a reply that a filter of the server stopped. */
export function contentFilterFailure(upstream: Upstream): ParleyError {
  return replyFailure(upstream, 'content_filter', ...failureTexts(upstream.settings, '').content_filter);
}

/** The failure for any other reply that cannot be used. `predicate` completes "its server …". */
export function replyFailure(
  upstream: Upstream,
  problem: ModelServerProblem,
  predicate: string,
  advice: Advice = 'Try again.',
): ParleyError {
  return new ParleyError(codeOf(problem), `${withServer(upstream, predicate)}.`, {
    ...adviceFacts(advice),
    details: detailsOf(problem),
  });
}

/** The failure for a silence before the reply began (`start`), or in the middle of it (`reply`). */
export function silenceFailure(
  upstream: Upstream,
  predicate: string,
  within: 'start' | 'reply',
): ParleyError {
  const { name } = upstream.settings;
  return replyFailure(upstream, 'timeout', predicate, { kind: 'allow_longer_silence', mode: name, within });
}

/** The failure for a request without a response, or with an incomplete one. */
export function requestFailure(upstream: Upstream, failure: HttpFailure): ParleyError {
  const { name, base_url } = upstream.settings;
  const address: Remedy = { kind: 'check_mode', mode: name, subject: 'address' };
  const start: Remedy = { kind: 'start_model_server', mode: name, program: programAt(base_url) };
  const remedies: Partial<Record<HttpFailureKind, Remedy>> = {
    refused: isLoopback(new URL(base_url).hostname) ? start : address,
    unknown_host: address,
    redirect: { kind: 'change_address', mode: name },
    tls: address,
    untrusted: { kind: 'trust_certificate' },
    unreadable: address,
    proxy: { kind: 'check_proxies' },
  };
  const problem = problemOfHttp[failure.kind];
  const message = quote(failure.message, upstream.key);
  const isCut = failure.isSent && failure.kind !== 'redirect';
  return new ParleyError(
    codeOf(problem),
    `The mode ${name} got ${isCut ? 'no complete reply' : 'no reply'}: ${message}.`,
    {
      ...adviceFacts(remedies[failure.kind] ?? 'Try again.'),
      ...(failure.kind === 'redirect' && { hint: 'Nothing was sent there.' }),
      details: detailsOf(problem),
      // The cause of the original failure is dropped, because it may contain the request and so the key.
      cause: new HttpFailure(failure.kind, message, { isSent: failure.isSent }),
    },
  );
}

const problemOfHttp: Readonly<Record<HttpFailureKind, ModelServerProblem>> = {
  refused: 'unreachable',
  unreachable: 'unreachable',
  unknown_host: 'unreachable',
  lookup: 'unreachable',
  proxy: 'unreachable',
  tls: 'untrusted',
  untrusted: 'untrusted',
  broken: 'broken_off',
  timeout: 'timeout',
  redirect: 'redirect',
  too_large: 'not_an_api',
  unreadable: 'not_an_api',
};

/** The failure for a response of another type, such as an HTML page. */
export function contentTypeFailure(upstream: Upstream, contentType: string | null): ParleyError {
  const type = (contentType ?? '').split(';')[0]?.trim() || 'no type';
  const { name } = upstream.settings;
  return replyFailure(
    upstream,
    'not_an_api',
    `answered with ${quote(type, upstream.key)}, not with a chat completion`,
    { kind: 'check_mode', mode: name, subject: 'base address' },
  );
}

function withServer({ settings }: Upstream, predicate: string): string {
  return `The mode ${settings.name} failed: its server ${new URL(settings.base_url).host} ${predicate}`;
}

function failureTexts(
  settings: ModeSettings,
  wait: string,
): Readonly<Record<ReportedProblem | 'no_key', readonly [string, Advice]>> {
  const { name, model, base_url } = settings;
  const check = (subject: ModeSubject): Remedy => ({ kind: 'check_mode', mode: name, subject });
  const pull = programAt(base_url) === 'Ollama' ? model : null;
  return {
    no_key: ['requires a key, and the mode has none', { kind: 'name_key', mode: name }],
    bad_key: ['does not accept the key', check('key')],
    forbidden: ['refuses the request', check('rights of the key')],
    credit: ['asks for payment first', 'Add credit to the account of the key, or use another mode.'],
    unknown_model: [`has no model ${quoted(model)}`, { kind: 'choose_model', mode: name, pull }],
    no_such_address: ['offers no chat completions at that address', check('address')],
    context_too_long: [
      'says that the conversation is too long for the model',
      { kind: 'send_less', mode: name, tokens: settings.context_tokens },
    ],
    rate_limited: ['accepts no more requests for now', `Try again in ${wait}.`],
    content_filter: [
      'stopped the reply with its content filter',
      'Rephrase the message, or use another mode.',
    ],
    overloaded: ['is overloaded or not ready', `Try again in ${wait}.`],
    bad_gateway: ['is overloaded or not ready', 'Try again in a moment.'],
    timeout: ['did not answer in time', 'Try again.'],
    refused: ['refuses the request', check('settings')],
    failed: ['failed', 'Try again.'],
  };
}

const maxCharacters = 300;
/** Matches words that begin like the keys of well-known vendors. */
const keyLike = /\b(sk-|gsk_|xai-|AIza|pplx-|hf_)\S+/g;

/** A text of the server on one line, shortened, without the key and without any recognizable part of it. */
function quote(text: string, key: string | null): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(keyLike, '[key]');
  const redactedLine = hide(line, key);
  return redactedLine.length > maxCharacters
    ? `${redactedLine.slice(0, maxCharacters).trimEnd()}…`
    : redactedLine;
}

const keyPartLength = 6;
/** The keys of vendors are longer. Servers that take any key get one like `ollama` or `sk-no-key-required`, whose ends are ordinary words. */
const minVendorKey = 20;

/** Hides the key. Servers often quote its beginning or its end. */
function hide(text: string, key: string | null): string {
  if (key === null || key.length < minVendorKey) return redactKey(text, key ?? '');
  const ends = [key.slice(0, keyPartLength), key.slice(-keyPartLength)];
  const words = text.split(' ').map((word) => (ends.some((end) => word.includes(end)) ? '[key]' : word));
  return redactKey(words.join(' ').replaceAll(key, '[key]'), key);
}

/** The program whose default port the address has; null for any other port. */
function programAt(baseUrl: string): ModelProgram | null {
  const { port } = new URL(baseUrl);
  return localModelServers.find(({ base_url }) => new URL(base_url).port === port)?.name ?? null;
}
