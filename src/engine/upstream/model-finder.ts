// Asks a server for its models: `GET …/models`, beside its chat completions.
import { fieldOf, parseJson } from '../../http/foreign-json.ts';
import { HttpClient } from '../../http/http-client.ts';
import { HttpFailure } from '../../http/http-failure.ts';
import { redactKey } from '../../http/key-redaction.ts';
import { ParleyError } from '../../service/errors.ts';
import type { FoundModels, ModelServer } from '../../service/model-server.ts';
import { modelsPath } from './completion-request.ts';
import type { UpstreamOptions } from './upstream-options.ts';

const connectMs = 2000;
const responseMs = 5000;
/** The most bytes of the body, both as it arrives and unpacked. */
const maxBytes = 16 * 1024 * 1024;

/** A fault of the server is part of the result. The promise does not reject for it. */
export async function findModels(
  server: ModelServer,
  options: UpstreamOptions,
  signal: AbortSignal,
): Promise<FoundModels> {
  let key: string | null = null;
  const isClean = (text: string) => redactKey(text, key ?? '') === text;
  const none = (problem: string | null): FoundModels => ({
    server,
    models: [],
    problem: problem && redactKey(problem, key ?? ''),
  });
  let client: HttpClient | null = null;
  try {
    const { origin } = new URL(server.base_url);
    const limits = { connectMs, responseMs, silenceMs: responseMs, maxBytes, detectsStale: false };
    const authorities = await options.authorities();
    key = server.key === null ? null : await options.readKey(server.key, server.name, signal);
    client = new HttpClient({ origin, proxies: options.proxies, authorities, ...limits });
    const response = await client.request({
      method: 'GET',
      path: modelsPath(server.base_url),
      headers: { Accept: 'application/json', ...(key !== null && { Authorization: `Bearer ${key}` }) },
      body: null,
      // Many servers may be asked at once, and Node warns of more than ten listeners for one signal.
      signal: AbortSignal.any([signal]),
    });
    const { status } = response;
    const list = modelsIn(parseJson(await response.text(maxBytes)));
    if (status === 401 || status === 403) return none(`does not accept the key (${status})`);
    if (status >= 300 || list === null) return none(`lists no models (${status})`);
    if (list.length === 0) return none('has no model yet');
    const ids = list.map((model) => fieldOf(model, 'id')).filter((id) => typeof id === 'string');
    // A name that contains the key would be stored, and shown to all users of a server.
    return { server, models: ids.filter(isClean), problem: null };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpFailure) return none(error.kind === 'refused' ? null : error.message);
    // The failure to read a key is told of a mode. A problem has no subject: it follows the name of the server.
    const ofMode = `The mode ${server.name} `;
    if (error instanceof ParleyError && error.message.startsWith(ofMode))
      return none(error.message.slice(ofMode.length).replace(/\.$/, ''));
    if (error instanceof ParleyError || error instanceof TypeError) return none(error.message);
    throw error;
  } finally {
    await client?.close();
  }
}

/** Null for a body without a list. Ollama sends null for an empty one. */
function modelsIn(body: unknown): readonly unknown[] | null {
  const data = fieldOf(body, 'data');
  if (Array.isArray(data)) return data;
  return data === null && fieldOf(body, 'object') === 'list' ? [] : null;
}
