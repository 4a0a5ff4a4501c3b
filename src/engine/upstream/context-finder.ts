// Asks a model's server how many tokens a conversation with the model may have. Servers tell it in different places; many do not tell it.
import { fieldOf, parseJson, textOf } from '../../http/foreign-json.ts';
import { HttpClient } from '../../http/http-client.ts';
import { HttpFailure } from '../../http/http-failure.ts';
import { isLoopback } from '../../http/loopback.ts';
import { ParleyError } from '../../service/errors.ts';
import type { ModeSettings } from '../../service/mode-settings.ts';
import type { ContextSize } from '../../service/model-server.ts';
import { completionsPath } from './completion-request.ts';
import type { UpstreamOptions } from './upstream-options.ts';

type Asked = Pick<ModeSettings, 'name' | 'base_url' | 'model' | 'key'>;

// A chat waits for the answer.
const connectMs = 2000;
const responseMs = 3000;
/** The most bytes of a list of models: some vendors have hundreds, each with a description. */
const mostBytes = 16 * 1024 * 1024;
const leastTokens = 256;
const mostTokens = 100_000_000;

/** Null if the server does not tell it, or does not answer. The programs of this machine are asked in their own ways, too. */
export async function findContext(
  { name, base_url, model, key: reference }: Asked,
  options: UpstreamOptions,
  signal: AbortSignal,
): Promise<ContextSize | null> {
  let client: HttpClient | null = null;
  try {
    const { origin, hostname } = new URL(base_url);
    const authorities = await options.authorities();
    const key = reference === null ? null : await options.readKey(reference, name, signal);
    const limits = { connectMs, responseMs, silenceMs: responseMs, mostBytes, detectsStale: false };
    const connected = new HttpClient({ origin, proxies: options.proxies, authorities, ...limits });
    client = connected;
    const ask = async (method: 'GET' | 'POST', path: string, body: object | null): Promise<unknown> => {
      const headers = {
        Accept: 'application/json',
        ...(body !== null && { 'Content-Type': 'application/json' }),
        ...(key !== null && { Authorization: `Bearer ${key}` }),
      };
      const text = body === null ? null : JSON.stringify(body);
      const response = await connected.request({ method, path, headers, body: text, signal });
      const answer = await response.text(mostBytes);
      return response.status < 300 ? parseJson(answer) : null;
    };
    const models = completionsPath(base_url).replace(/\/chat\/completions$/, '/models');
    const listed = ofList(await ask('GET', models, null), model);
    if (listed !== null) return { tokens: listed, place: '/models' };
    if (!isLoopback(hostname)) return null;
    const loaded = ofProperties(await ask('GET', '/props', null));
    if (loaded !== null) return { tokens: loaded, place: '/props' };
    const shown = ofOllama(await ask('POST', '/api/show', { model }));
    return shown === null ? null : { tokens: shown, place: '/api/show' };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure || error instanceof ParleyError || error instanceof TypeError)
      return null;
    throw error;
  } finally {
    await client?.close();
  }
}

/** OpenRouter and Together say `context_length`, Groq `context_window`, Mistral `max_context_length`, vLLM `max_model_len`, llama.cpp `meta`. */
function ofList(body: unknown, model: string): number | null {
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
function ofProperties(body: unknown): number | null {
  return firstCount(fieldOf(fieldOf(body, 'default_generation_settings'), 'n_ctx'), fieldOf(body, 'n_ctx'));
}

/** Ollama: what the model is started with, else what it was made for. */
function ofOllama(body: unknown): number | null {
  const [, started] = /^num_ctx\s+(\d+)\s*$/m.exec(textOf(fieldOf(body, 'parameters'))) ?? [];
  const facts = Object.entries(fieldOf(body, 'model_info') ?? {});
  const [, made] = facts.find(([field]) => field.endsWith('.context_length')) ?? [];
  return firstCount(started === undefined ? null : Number(started), made);
}

function firstCount(...values: readonly unknown[]): number | null {
  const isCount = (value: unknown): value is number =>
    Number.isInteger(value) && (value as number) >= leastTokens && (value as number) <= mostTokens;
  return values.find(isCount) ?? null;
}
