// The advice of `parley setup` when it found no model. It depends on what was found instead.
import { ParleyError } from '../../../service/errors.ts';
import type { FoundModels, ModelServer } from '../../../service/model-server.ts';

export function nothingFound(found: readonly FoundModels[], vendors: readonly ModelServer[]): ParleyError {
  const keys = vendors.length === 0 ? ', and no key of a vendor is set' : '';
  const others = found.filter(({ models }) => models.length > 0);
  const what = others.length === 0 ? 'model' : 'model to chat with';
  return new ParleyError('NOT_FOUND', `No ${what} was found on this machine${keys}.`, {
    hint: hintFor(found, others),
  });
}

/** `others`: servers whose models are not made for chats. */
function hintFor(found: readonly FoundModels[], others: readonly FoundModels[]): string {
  const ollama = found.find(({ server }) => server.name === 'Ollama');
  if (ollama !== undefined && ollama.models.length > 0)
    return 'Ollama is there, and none of its models is for chats. Pull one: ollama pull qwen3:4b, and then: parley setup';
  if (ollama !== undefined && ollama.problem !== null)
    return 'Ollama is there. Give it one: ollama pull qwen3:4b, and then: parley setup';
  const [other] = others;
  if (other !== undefined)
    return `${other.server.name} is there, and none of its models is for chats. Load one there, and then: parley setup`;
  return [
    'The shortest way to one:',
    '  1. Install Ollama: https://ollama.com/download',
    '  2. ollama pull qwen3:4b',
    '  3. parley setup',
  ].join('\n');
}
