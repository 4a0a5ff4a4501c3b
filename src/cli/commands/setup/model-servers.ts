// Where `parley setup` looks for models: the model servers on this machine, and the vendors whose keys are set. Environment variables of the
// vendors' own tools may change the addresses.
import { isLocalUrl, readBaseUrl } from '../../../config/base-url.ts';
import { ParleyError } from '../../../service/errors.ts';
import { localModelServers, type ModelServer, modelVendors } from '../../../service/model-server.ts';
import { quoteForShell } from '../../../system/shell-quote.ts';
import type { CliContext } from '../../context.ts';
import { nextStep } from '../../next-step.ts';

/**
 * The model servers on this machine. OLLAMA_HOST sets the address of Ollama, as for Ollama itself. The address of another machine is ignored.
 */
export function localServers({ host: { env } }: CliContext): readonly ModelServer[] {
  const named = env['OLLAMA_HOST'] ?? '';
  const address = /^(?:http:\/\/)?([^/]+)\/?$/.exec(named)?.[1] ?? '';
  const url = `http://${/:\d+$/.test(address) ? address : `${address}:11434`}`;
  const isHere = address !== '' && URL.canParse(url) && isLocalUrl(url);
  return localModelServers.map((server) =>
    server.name === 'Ollama' && isHere ? { ...server, base_url: `${url}/v1` } : server,
  );
}

/**
 * The vendors whose keys are set. If OPENAI_BASE_URL is set, the key belongs to that address, as for OpenAI's own tools, and is never sent to
 * OpenAI.
 */
export async function vendorsWithKeys(context: CliContext): Promise<readonly ModelServer[]> {
  const { env } = context.host;
  const vendors = modelVendors.filter(({ key }) => env[variableOf(key)]);
  const named = env['OPENAI_BASE_URL'];
  if (!named) return vendors;
  const isOpenAi = ({ name }: ModelServer) => name === 'OpenAI';
  try {
    const { insecureHttp } = context.options;
    const base_url = readBaseUrl(named, 'OPENAI_BASE_URL', { insecureHttp });
    return vendors.map((vendor) => (isOpenAi(vendor) ? { ...vendor, base_url } : vendor));
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    if (vendors.some(isOpenAi)) await context.say(`${error.message} ${nextStep(error)}`);
    return vendors.filter((vendor) => !isOpenAi(vendor));
  }
}

/** The command that adds a mode for this server. */
export function commandFor({ base_url, key }: ModelServer): string {
  const from = key === null ? '' : ` --key ${quoteForShell(key)}`;
  return `parley modes add NAME --base-url ${quoteForShell(base_url)}${from} --model MODEL`;
}

/** True if both URLs name the same server: this machine has several names, and the path `/v1` may be missing. */
export function isSameServer(one: string, other: string): boolean {
  return normalizedUrl(one) === normalizedUrl(other);
}

function normalizedUrl(baseUrl: string): string {
  const { protocol, hostname, port, pathname } = new URL(baseUrl);
  const path = pathname.replace(/\/+$/, '') || '/v1';
  return `${protocol}//${isLocalUrl(baseUrl) ? 'localhost' : hostname}:${port}${path}`;
}

export function variableOf(key: string | null): string {
  return (key ?? '').replace(/^env:/, '');
}
