// The failure of `parley setup` when it found no model. Its advice depends on what was found instead.
import { ParleyError } from '../../../service/errors.ts';
import type { FoundModels, ModelServer } from '../../../service/model-server.ts';
import { commandFor } from './model-servers.ts';

/** `asked` are the servers of vendors and those that the user named. `vendors` are those whose keys are set. */
export function nothingFound(
  found: readonly FoundModels[],
  vendors: readonly ModelServer[],
  asked: readonly ModelServer[],
): ParleyError {
  const failed = found.find(({ server, models }) => asked.includes(server) && models.length === 0);
  if (failed !== undefined) return unusable(failed);
  const keys = vendors.length === 0 ? ', and no vendor key is set' : '';
  const others = found.filter(({ models }) => models.length > 0);
  const subject = others.length === 0 ? 'model' : 'model to chat with';
  return new ParleyError('NOT_FOUND', `No ${subject} was found on this machine${keys}.`, {
    hint: hintFor(found, others, vendors),
  });
}

/** The user chose this server, so there is no advice about others. */
function unusable({ server, problem }: FoundModels): ParleyError {
  const { name, base_url, key } = server;
  const subjects = key === null ? 'the network and the address' : 'the network, the address and the key';
  const reason = problem ?? 'nothing is listening there';
  return new ParleyError('NOT_FOUND', `${name} (${base_url}) lists no models: ${reason}.`, {
    hint: `No mode was created. Check ${subjects}, then run parley setup again; or name the model: ${commandFor(server)}`,
  });
}

/** `others` are servers whose models are not made for chats. */
function hintFor(
  found: readonly FoundModels[],
  others: readonly FoundModels[],
  vendors: readonly ModelServer[],
): string {
  const ollama = found.find(({ server }) => server.name === 'Ollama');
  if (ollama !== undefined && ollama.models.length > 0)
    return 'Ollama is running, but none of its models is made for chats. Pull one with ollama pull qwen3:4b, then run parley setup';
  if (ollama !== undefined && ollama.problem !== null)
    return 'Ollama is running. Pull a model with ollama pull qwen3:4b, then run parley setup';
  const [other] = others;
  if (other !== undefined)
    return `${other.server.name} is running, but none of its models is made for chats. Load one there, then run parley setup`;
  const [vendor] = vendors;
  if (vendor !== undefined) return `To use ${vendor.name}: ${commandFor(vendor)}`;
  return [
    'To get one:',
    '  1. Install Ollama: https://ollama.com/download',
    '  2. ollama pull qwen3:4b',
    '  3. parley setup',
    'Or name a server: parley modes add NAME --base-url URL --key env:NAME --model MODEL',
  ].join('\n');
}
