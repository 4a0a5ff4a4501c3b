// Warns that Ollama drops parts of a long conversation without a notice. Without a setting of its owner it reads 4096 tokens on most
// machines (https://docs.ollama.com/context-length), and its OpenAI-compatible API has no field for more (docs/openai.md of its
// repository).
import { usualTokensHere } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';

const usualTokens = 4096;

/** `setTokens`: how many tokens of a conversation are sent at most; null for a mode that does not say it. */
export async function sayOllamaWindow(setTokens: number | null, context: CliContext): Promise<void> {
  const contextTokens = setTokens ?? usualTokensHere;
  if (contextTokens <= usualTokens) return;
  await context.say(
    `Ollama itself may read only ${usualTokens} tokens of a conversation, and leaves out the rest in silence. For all ${contextTokens} that Parley sends, start it so: OLLAMA_CONTEXT_LENGTH=${contextTokens} ollama serve (ollama ps shows what it uses)`,
  );
}

/** True if the URL has Ollama's default port. */
export function isOllama(baseUrl: string): boolean {
  return new URL(baseUrl).port === '11434';
}
