// What one chunk of a streamed chat completion says, or a whole completion that is not streamed. Servers differ in where they put
// things; what is not known is passed over.

import { fieldOf, textOf } from '../../http/foreign-json.ts';
import type { Usage } from '../../service/session.ts';

export interface CompletionChunk {
  readonly text: string;
  readonly reasoning: string;
  /** As the server calls it; null while the reply goes on. */
  readonly finish: string | null;
  readonly usage: Usage | null;
  /** What the server put in `error`; null where there is none. */
  readonly error: unknown;
  /** True where the model calls a tool. */
  readonly callsTool: boolean;
}

/** Null for what is no chunk of a completion. */
export function readChunk(value: unknown): CompletionChunk | null {
  if (typeof value !== 'object' || value === null) return null;
  const choices = fieldOf(value, 'choices');
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const error = errorOf(value, choices, choice);
  const usage = readUsage(fieldOf(value, 'usage')) ?? readUsage(fieldOf(fieldOf(value, 'x_groq'), 'usage'));
  if (error === null && usage === null && !Array.isArray(choices)) return null;
  const message = fieldOf(choice, 'delta') ?? fieldOf(choice, 'message');
  const content = fieldOf(message, 'content');
  const parts = Array.isArray(content) ? content : [];
  const finish = fieldOf(choice, 'finish_reason');
  return {
    text: textOf(content) + parts.map(partText).join('') + textOf(fieldOf(message, 'refusal')),
    // DeepSeek, llama.cpp and vLLM say `reasoning_content`; OpenRouter, Groq and Ollama `reasoning`; Mistral sends parts.
    reasoning:
      (textOf(fieldOf(message, 'reasoning_content')) || textOf(fieldOf(message, 'reasoning'))) +
      parts.map(partReasoning).join(''),
    finish: typeof finish === 'string' && finish !== '' ? finish : null,
    usage,
    error,
    callsTool: isCall(fieldOf(message, 'tool_calls')) || isCall(fieldOf(message, 'function_call')),
  };
}

/** True for an object that tells of no reply and of no failure: a sign of life, or a note of a gateway. */
export function isNote(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && readChunk(value) === null;
}

function errorOf(value: unknown, choices: unknown, choice: unknown): unknown {
  const error = fieldOf(value, 'error') ?? fieldOf(choice, 'error') ?? null;
  // Some gateways send the field with each piece, and nothing in it.
  if (Array.isArray(choices)) return isEmpty(error) ? null : error;
  // vLLM and Mistral name an error so, with its fields beside the name.
  const isError = fieldOf(value, 'object') === 'error' || fieldOf(value, 'type') === 'error';
  return error ?? (isError ? value : null);
}

function isEmpty(error: unknown): boolean {
  return typeof error === 'object' && error !== null && Object.keys(error).length === 0;
}

function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function partText(part: unknown): string {
  return fieldOf(part, 'type') === 'text' ? textOf(fieldOf(part, 'text')) : '';
}

function partReasoning(part: unknown): string {
  if (fieldOf(part, 'type') !== 'thinking') return '';
  const thinking = fieldOf(part, 'thinking');
  return Array.isArray(thinking) ? thinking.map(partText).join('') : textOf(thinking);
}

function readUsage(value: unknown): Usage | null {
  const input_tokens = fieldOf(value, 'prompt_tokens');
  const output_tokens = fieldOf(value, 'completion_tokens');
  return isCount(input_tokens) && isCount(output_tokens) ? { input_tokens, output_tokens } : null;
}

/** A larger count is not believed: it would spoil every sum that it went into. */
const mostTokens = 1e12;

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= mostTokens;
}
