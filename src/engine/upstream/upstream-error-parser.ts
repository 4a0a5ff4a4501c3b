// Parses the error of a model's server and finds its problem by status, code, type or text. The texts come from the documentation of the
// vendors or from their servers.
import { fieldOf, objectOrNull, parseJson, textOf } from '../../http/foreign-json.ts';
import { readRetryAfter } from '../../http/retry-after.ts';
import type { ModelServerProblem } from '../../service/model-server-problem.ts';

/** The problems that a server can report itself. */
export type ReportedProblem = Extract<
  ModelServerProblem,
  | 'bad_key'
  | 'forbidden'
  | 'credit'
  | 'unknown_model'
  | 'no_such_address'
  | 'context_too_long'
  | 'rate_limited'
  | 'content_filter'
  | 'overloaded'
  | 'bad_gateway'
  | 'timeout'
  | 'refused'
  | 'failed'
>;

interface ParsedUpstreamError {
  readonly problem: ReportedProblem;
  /** The status of the response, or the status in an error inside a stream. Null if there is none. */
  readonly status: number | null;
  readonly message: string;
  /** The seconds to wait, if the body names them; otherwise null. */
  readonly retryAfter: number | null;
}

/** A longer text is ignored, because it would not help a reader, and the search would take seconds. */
const maxCharacters = 1024 * 1024;

export function parseUpstreamError(responseStatus: number | null, text: string): ParsedUpstreamError {
  const { codes, message, retryAfter } = parseBody(text.length > maxCharacters ? '' : text);
  const status = responseStatus ?? statusOf(codes[0] ?? '');
  return { problem: problemOf(status, codes.join(' '), message), status, message, retryAfter };
}

const contextCodes = /context_length|exceed_context|request.too.large/i;
const contextWords =
  /context (length|size|window|limit)|maximum (context|(prompt|model) length)|(prompt|input) is too long|too many tokens|the maximum number of tokens/i;
/** Bedrock: "Too many tokens, please wait before trying again." This is a limit per minute or per day. */
const rateWords = /please wait before trying again/i;
const modelCodes =
  /model_not_found|unknown_model|invalid_model\b|DeploymentNotFound|model_decommissioned|model_not_available/i;
const modelWords =
  /model.{0,80}(not found|not exist|does not exist|not a valid)|not a valid model|no endpoints found for /i;
const creditWords =
  /insufficient_quota|insufficient.balance|credit balance|credits are depleted|billing_not_active|(available|any) credits|spending (limit|cap)/i;

function problemOf(status: number | null, code: string, message: string): ReportedProblem {
  const text = `${code} ${message}`;
  // Google uses the same words for a limit per minute as OpenAI uses for an account without money.
  const isQuota = /exceeded your current quota/i.test(message) && !/RESOURCE_EXHAUSTED/.test(code);
  if (isQuota || creditWords.test(text)) return 'credit';
  if (rateWords.test(message)) return 'rate_limited';
  if (/content_?filter|content_policy|content management policy|moderation/i.test(text))
    return 'content_filter';
  if (contextCodes.test(text) || contextWords.test(text)) return 'context_too_long';
  const isModel = /not_found_error/.test(code) && /^model: /i.test(message);
  if (isModel || modelCodes.test(text) || modelWords.test(text)) return 'unknown_model';
  if (/invalid_api_key|API_KEY_INVALID|authentication_error|incorrect api key|api key not valid/i.test(text))
    return 'bad_key';
  // OpenRouter has the model, but the settings of the account allow no provider of it. OpenAI has models that only its other APIs offer.
  if (/no endpoints found|not (supported )?in (the )?v1\/chat\/completions/i.test(message)) return 'refused';
  if (status !== 413 && /rate_limit/i.test(code)) return 'rate_limited';
  if (/overloaded|unavailable_error/i.test(text)) return 'overloaded';
  if (status === null) return 'failed';
  return problemOfStatus[status] ?? (status < 500 ? 'refused' : 'failed');
}

const problemOfStatus: Readonly<Record<number, ReportedProblem>> = {
  401: 'bad_key',
  402: 'credit',
  403: 'forbidden',
  404: 'no_such_address',
  405: 'no_such_address',
  408: 'timeout',
  413: 'context_too_long',
  429: 'rate_limited',
  502: 'bad_gateway',
  503: 'overloaded',
  504: 'timeout',
  // 520 and above, except 529: Cloudflare does not reach the server.
  520: 'bad_gateway',
  521: 'bad_gateway',
  522: 'bad_gateway',
  523: 'bad_gateway',
  524: 'timeout',
  525: 'bad_gateway',
  526: 'bad_gateway',
  529: 'overloaded',
  530: 'bad_gateway',
};

/** OpenRouter and llama.cpp put the status into `code`, also inside a stream. */
function statusOf(code: string): number | null {
  return /^[45]\d\d$/.test(code) ? Number(code) : null;
}

interface ParsedBody {
  readonly codes: readonly string[];
  readonly message: string;
  readonly retryAfter: number | null;
}

/**
 * Reads `{"error":{"message","type","code"}}`, `{"error":"…"}`, `{"message"}`, `{"detail"}`, Cloudflare's `{"errors":[{"message","code"}]}`,
 * Google's list of one error, and text that is not JSON.
 */
function parseBody(text: string): ParsedBody {
  const parsed = parseJson(text);
  // The text of an HTML page is not used.
  if (parsed === undefined) return { codes: [], message: /^\s*</.test(text) ? '' : text, retryAfter: null };
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  const errors = fieldOf(body, 'errors');
  const error = fieldOf(body, 'error') ?? (Array.isArray(errors) ? errors[0] : null) ?? body;
  const details = fieldOf(error, 'details');
  const facts: readonly unknown[] = Array.isArray(details) ? details : [];
  const codes = [
    ...['code', 'type', 'status'].map((name) => fieldOf(error, name)),
    ...facts.map((fact) => fieldOf(fact, 'reason')),
  ];
  return {
    codes: codes
      .filter((code) => typeof code === 'string' || typeof code === 'number')
      .map(String)
      .filter((code) => code !== ''),
    message: withRaw(messageOf(error) || messageOf(body), fieldOf(fieldOf(error, 'metadata'), 'raw')),
    retryAfter: facts.map(delayOf).find((delay) => delay !== null) ?? null,
  };
}

function messageOf(error: unknown): string {
  const message = fieldOf(error, 'message');
  const detail = fieldOf(error, 'detail');
  return (
    textOf(error) ||
    textOf(message) ||
    faults(fieldOf(message, 'detail')) ||
    textOf(detail) ||
    faults(detail) ||
    (objectOrNull(detail) === null ? '' : messageOfBody(detail))
  );
}

/** `[{"loc":["body","seed"],"msg":"…"}]`: the form of Mistral and of other servers that check requests with pydantic. */
function faults(detail: unknown): string {
  if (!Array.isArray(detail)) return '';
  const messages = detail.map((fault) => {
    const location = fieldOf(fault, 'loc');
    const path = (Array.isArray(location) ? location : []).filter((part) => part !== 'body').join('.');
    return [path, textOf(fieldOf(fault, 'msg'))].filter((part) => part !== '').join(': ');
  });
  return messages.filter((message) => message !== '').join('; ');
}

/** OpenRouter's own message may only say that a provider failed. The provider's error is then in another field, as text or as JSON. */
function withRaw(message: string, raw: unknown): string {
  const text = typeof raw === 'object' && raw !== null ? JSON.stringify(raw) : textOf(raw);
  if (text === '') return message;
  const parsed = parseJson(text);
  const isBody = typeof parsed === 'object' && parsed !== null;
  const cause = isBody || /^\s*</.test(text) ? messageOfBody(parsed) : text.trim();
  if (cause === '' || message.includes(cause)) return message;
  return message === '' ? cause : `${message.replace(/[.:]\s*$/, '')}: ${cause}`;
}

function messageOfBody(parsed: unknown): string {
  const body = Array.isArray(parsed) ? parsed[0] : parsed;
  return messageOf(fieldOf(body, 'error')) || messageOf(body);
}

/** Google's RetryInfo: `{"retryDelay":"36s"}`. */
function delayOf(fact: unknown): number | null {
  const delay = /^([\d.]+)s$/.exec(textOf(fieldOf(fact, 'retryDelay')));
  return delay === null ? null : readRetryAfter(delay[1] ?? '', 0);
}
