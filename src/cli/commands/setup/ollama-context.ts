// Warns that Ollama silently truncates a long conversation. By default it reads 4096 tokens on most machines
// (https://docs.ollama.com/context-length), and its OpenAI-compatible API has no field to change that (docs/openai.md of its repository).
import { defaultTokensHere } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';

const defaultTokens = 4096;

/** `setTokens` is the most tokens of a conversation that the mode sends; null if the mode does not set it. */
export async function warnAboutOllamaContext(setTokens: number | null, context: CliContext): Promise<void> {
  const contextTokens = setTokens ?? defaultTokensHere;
  if (contextTokens <= defaultTokens) return;
  await context.say(
    `Ollama may read only ${defaultTokens} tokens of a conversation and silently drop the rest. To use all ${contextTokens} that Parley sends, start it with: OLLAMA_CONTEXT_LENGTH=${contextTokens} ollama serve (ollama ps shows the value in use)`,
  );
}

/** True if the URL has Ollama's default port. */
export function isOllama(baseUrl: string): boolean {
  return new URL(baseUrl).port === '11434';
}
