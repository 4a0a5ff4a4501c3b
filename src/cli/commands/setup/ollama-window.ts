// What Ollama leaves out of a long conversation, and says to nobody: without a word of its owner its models read 4096 tokens on most
// machines (https://docs.ollama.com/context-length), and its OpenAI-compatible API knows no field to ask for more (docs/openai.md of its
// repository).
import type { CliContext } from '../../context.ts';

const usualTokens = 4096;

/** `contextTokens`: what is sent of a conversation, at most. */
export async function sayOllamaWindow(contextTokens: number, context: CliContext): Promise<void> {
  if (contextTokens <= usualTokens) return;
  await context.say(
    `Ollama itself may read only ${usualTokens} tokens of a conversation, and leaves out the rest in silence. For all ${contextTokens} that Parley sends, start it so: OLLAMA_CONTEXT_LENGTH=${contextTokens} ollama serve (ollama ps shows what it uses)`,
  );
}

/** By the port where it listens when nothing else is said. */
export function isOllama(baseUrl: string): boolean {
  return new URL(baseUrl).port === '11434';
}
