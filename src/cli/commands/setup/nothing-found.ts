// The advice of `parley setup` when it found no model. It depends on what was found instead.
import { ParleyError } from '../../../service/errors.ts';
import type { FoundModels, ModelServer } from '../../../service/model-server.ts';
import { commandFor } from './model-servers.ts';

/** `asked`: the servers elsewhere, and those that the person named. `vendors`: those whose keys are set. */
export function nothingFound(
  found: readonly FoundModels[],
  vendors: readonly ModelServer[],
  asked: readonly ModelServer[],
): ParleyError {
  const failed = found.find(({ server, models }) => asked.includes(server) && models.length === 0);
  if (failed !== undefined) return unusable(failed);
  const keys = vendors.length === 0 ? ', and no key of a vendor is set' : '';
  const others = found.filter(({ models }) => models.length > 0);
  const what = others.length === 0 ? 'model' : 'model to chat with';
  return new ParleyError('NOT_FOUND', `No ${what} was found on this machine${keys}.`, {
    hint: hintFor(found, others, vendors),
  });
}

/** The person chose this server, so it is not told how to get another one. */
function unusable({ server, problem }: FoundModels): ParleyError {
  const { name, base_url } = server;
  const said = problem ?? 'nothing listens there';
  return new ParleyError('NOT_FOUND', `${name} (${base_url}) gave no models: ${said}.`, {
    hint: `No mode was made. Check the network, the address and the key, then run parley setup again; or name the model: ${commandFor(server)}`,
  });
}

/** `others`: servers whose models are not made for chats. */
function hintFor(
  found: readonly FoundModels[],
  others: readonly FoundModels[],
  vendors: readonly ModelServer[],
): string {
  const ollama = found.find(({ server }) => server.name === 'Ollama');
  if (ollama !== undefined && ollama.models.length > 0)
    return 'Ollama is there, and none of its models is for chats. Pull one: ollama pull qwen3:4b, and then: parley setup';
  if (ollama !== undefined && ollama.problem !== null)
    return 'Ollama is there. Give it one: ollama pull qwen3:4b, and then: parley setup';
  const [other] = others;
  if (other !== undefined)
    return `${other.server.name} is there, and none of its models is for chats. Load one there, and then: parley setup`;
  const [vendor] = vendors;
  if (vendor !== undefined) return `To use ${vendor.name}: ${commandFor(vendor)}`;
  return [
    'The shortest way to one:',
    '  1. Install Ollama: https://ollama.com/download',
    '  2. ollama pull qwen3:4b',
    '  3. parley setup',
    'Or name a server: parley modes add NAME --base-url URL --key env:NAME --model MODEL',
  ].join('\n');
}
