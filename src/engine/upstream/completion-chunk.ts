// Reads one chunk of a streamed chat completion, or a whole completion that is not streamed. Servers put the same facts in different
// places. Unknown fields are ignored.
import { fieldOf, textOf } from '../../http/foreign-json.ts';
import type { Usage } from '../../service/session.ts';

export interface CompletionChunk {
  /** The index of the reply to which the chunk belongs, as the server counts its replies. Null for a chunk without a reply. */
  readonly index: number | null;
  readonly text: string;
  readonly reasoning: string;
  /** The server's own name for the reason of the end. Null while the reply continues. */
  readonly finish: string | null;
  readonly usage: Usage | null;
  /** The value of the server's field `error`; null if there is none. */
  readonly error: unknown;
  /** True if the model calls a tool. */
  readonly callsTool: boolean;
}

/** Null for a value that is not a chunk of a completion. */
export function readChunk(value: unknown): CompletionChunk | null {
  if (typeof value !== 'object' || value === null) return null;
  const choices = fieldOf(value, 'choices');
  const choice = Array.isArray(choices)
    ? (choices.find((one) => indexOf(one) === 0) ?? choices[0])
    : undefined;
  const error = errorOf(value, choices, choice);
  const usage = readUsage(fieldOf(value, 'usage')) ?? readUsage(fieldOf(fieldOf(value, 'x_groq'), 'usage'));
  if (error === null && usage === null && !Array.isArray(choices)) return null;
  const message = fieldOf(choice, 'delta') ?? fieldOf(choice, 'message');
  const content = fieldOf(message, 'content');
  const parts = Array.isArray(content) ? content : [];
  const finish = fieldOf(choice, 'finish_reason');
  return {
    index: choice === undefined ? null : indexOf(choice),
    text: textOf(content) + parts.map(partText).join('') + textOf(fieldOf(message, 'refusal')),
    // The reasoning is in `reasoning_content` at DeepSeek, llama.cpp and vLLM, in `reasoning` at OpenRouter, Groq and Ollama, and in parts at
    // Mistral.
    reasoning:
      (textOf(fieldOf(message, 'reasoning_content')) || textOf(fieldOf(message, 'reasoning'))) +
      parts.map(partReasoning).join(''),
    // Alibaba's API and gateways to it send the text "null" while the reply continues.
    finish: typeof finish === 'string' && finish !== '' && finish !== 'null' ? finish : null,
    usage,
    error,
    callsTool: isCall(fieldOf(message, 'tool_calls')) || isCall(fieldOf(message, 'function_call')),
  };
}

/** True for an object without a reply and without a failure. Gateways send such objects to keep a connection alive. */
export function isKeepAlive(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && readChunk(value) === null;
}

function indexOf(choice: unknown): number {
  const index = fieldOf(choice, 'index');
  return typeof index === 'number' ? index : 0;
}

function errorOf(value: unknown, choices: unknown, choice: unknown): unknown {
  const error = fieldOf(value, 'error') ?? fieldOf(choice, 'error') ?? null;
  // Some gateways send the field with each chunk, with an empty object as its value.
  if (Array.isArray(choices)) return isEmpty(error) ? null : error;
  // vLLM and Mistral mark an error this way and put its fields beside the mark.
  const isError = fieldOf(value, 'object') === 'error' || fieldOf(value, 'type') === 'error';
  return error ?? (isError ? value : null);
}

function isEmpty(error: unknown): boolean {
  return typeof error === 'object' && error !== null && Object.keys(error).length === 0;
}

function isCall(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** Gateways to OpenAI's Responses API pass on its `output_text`. */
const textTypes: readonly unknown[] = ['text', 'output_text'];

function partText(part: unknown): string {
  return textTypes.includes(fieldOf(part, 'type')) ? textOf(fieldOf(part, 'text')) : '';
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

/** A larger count is ignored, because it would distort every sum. */
const maxTokens = 1e12;

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxTokens;
}
