// Asks a model's server how many tokens a conversation with the model may have. Servers report this in different places, and many do not
// report it.
import { fieldOf, parseJson, textOf } from '../../http/foreign-json.ts';
import { HttpClient } from '../../http/http-client.ts';
import { HttpFailure } from '../../http/http-failure.ts';
import { isLoopback } from '../../http/loopback.ts';
import { ParleyError } from '../../service/errors.ts';
import type { ModeSettings } from '../../service/mode-settings.ts';
import type { ContextSize } from '../../service/model-server.ts';
import { modelsPath } from './completion-request.ts';
import type { UpstreamOptions } from './upstream-options.ts';

type QueriedMode = Pick<ModeSettings, 'name' | 'base_url' | 'model' | 'key'>;

// The timeouts are short, because a chat waits for the response.
const connectMs = 2000;
const responseMs = 3000;
/** The most bytes of a list of models. Some vendors have hundreds of models, each with a description. */
const maxBytes = 16 * 1024 * 1024;
const minTokens = 256;
const maxTokens = 100_000_000;

/** Null if the server does not report it, or does not respond. On this machine, the APIs of llama.cpp and Ollama are asked, too. */
export async function findContext(
  { name, base_url, model, key: reference }: QueriedMode,
  options: UpstreamOptions,
  signal: AbortSignal,
): Promise<ContextSize | null> {
  let client: HttpClient | null = null;
  try {
    const { origin, hostname } = new URL(base_url);
    const authorities = await options.authorities();
    const key = reference === null ? null : await options.readKey(reference, name, signal);
    const limits = { connectMs, responseMs, silenceMs: responseMs, maxBytes, detectsStale: false };
    const openClient = new HttpClient({ origin, proxies: options.proxies, authorities, ...limits });
    client = openClient;
    const ask = async (method: 'GET' | 'POST', path: string, body: object | null): Promise<unknown> => {
      const headers = {
        Accept: 'application/json',
        ...(body !== null && { 'Content-Type': 'application/json' }),
        ...(key !== null && { Authorization: `Bearer ${key}` }),
      };
      const text = body === null ? null : JSON.stringify(body);
      const response = await openClient.request({ method, path, headers, body: text, signal });
      const responseText = await response.text(maxBytes);
      return response.status < 300 ? parseJson(responseText) : null;
    };
    const listedTokens = listedContext(await ask('GET', modelsPath(base_url), null), model);
    if (listedTokens !== null) return { tokens: listedTokens, place: '/models' };
    if (!isLoopback(hostname)) return null;
    const loadedTokens = loadedContext(await ask('GET', '/props', null));
    if (loadedTokens !== null) return { tokens: loadedTokens, place: '/props' };
    const shownTokens = shownContext(await ask('POST', '/api/show', { model }));
    return shownTokens === null ? null : { tokens: shownTokens, place: '/api/show' };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure || error instanceof ParleyError || error instanceof TypeError)
      return null;
    throw error;
  } finally {
    await client?.close();
  }
}

/** OpenRouter, Together: `context_length`. Groq: `context_window`. Mistral: `max_context_length`. vLLM: `max_model_len`. llama.cpp: `meta`. */
function listedContext(body: unknown, model: string): number | null {
  const data = fieldOf(body, 'data');
  const entries: readonly unknown[] = Array.isArray(data) ? data : [];
  const entry = entries.find((one) => fieldOf(one, 'id') === model) ?? null;
  return firstCount(
    ...['context_length', 'context_window', 'max_context_length', 'max_model_len'].map((field) =>
      fieldOf(entry, field),
    ),
    fieldOf(fieldOf(entry, 'meta'), 'n_ctx'),
  );
}

/** llama.cpp: the context of each of its slots. */
function loadedContext(body: unknown): number | null {
  return firstCount(fieldOf(fieldOf(body, 'default_generation_settings'), 'n_ctx'), fieldOf(body, 'n_ctx'));
}

/** Ollama: the context with which the model is started, otherwise the context for which it was trained. */
function shownContext(body: unknown): number | null {
  const [, configured] = /^num_ctx\s+(\d+)\s*$/m.exec(textOf(fieldOf(body, 'parameters'))) ?? [];
  const facts = Object.entries(fieldOf(body, 'model_info') ?? {});
  const [, trained] = facts.find(([field]) => field.endsWith('.context_length')) ?? [];
  return firstCount(configured === undefined ? null : Number(configured), trained);
}

function firstCount(...values: readonly unknown[]): number | null {
  const isCount = (value: unknown): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= minTokens && value <= maxTokens;
  return values.find(isCount) ?? null;
}
