// The request of a chat completion of OpenAI's API (https://platform.openai.com/docs/api-reference/chat/create).
import type { ModeSettings } from '../../service/mode-settings.ts';
import { schemaInstructions } from '../../service/schema-instructions.ts';
import type { EngineContext } from '../reply-engine.ts';

/** Follows a cut reply in the history, so that the model does not treat the reply as complete. */
export const cutMark = '[This reply was cut off here.]';

/**
 * The path of the chat completions of a base URL. Vendors document base URLs with a path (`…/v1`, `…/openai/v1`, `…/v1beta/openai`), to
 * which `/chat/completions` is added, and base URLs without a path, which stand for `/v1`. A base URL that ends in `/chat/completions` is
 * used as it is.
 */
export function completionsPath(baseUrl: string): string {
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '');
  if (path.endsWith('/chat/completions')) return path;
  return `${path === '' ? '/v1' : path}/chat/completions`;
}

/** The path of the list of models, beside the chat completions. */
export function modelsPath(baseUrl: string): string {
  return completionsPath(baseUrl).replace(/\/chat\/completions$/, '/models');
}

/** The optional features of the request, which some servers refuse. */
interface CompletionForm {
  /** False to get the reply as one piece. */
  readonly streams: boolean;
  /** True to request the token count. */
  readonly withUsage: boolean;
  /** True to send a schema as `response_format`. False to describe it in words, after the system prompt. */
  readonly withFormat: boolean;
}

/** The session's system prompt follows that of the mode, in one message. The session's parameters replace those of the mode, name by name. */
export function completionBody(
  settings: ModeSettings,
  context: EngineContext,
  { streams, withUsage, withFormat }: CompletionForm,
): string {
  const { model, temperature, parameters } = settings;
  const { schema } = context;
  const words = schema === undefined || withFormat ? null : schemaInstructions(schema);
  const system = [settings.system, context.system, words].filter((text) => text != null).join('\n\n');
  return JSON.stringify({
    model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...context.history.map(({ role, content, cut }) => ({
        role,
        content: cut ? `${content}\n${cutMark}` : content,
      })),
      { role: 'user', content: context.message },
    ],
    ...(temperature !== null && { temperature }),
    ...parameters,
    ...context.parameters,
    ...(schema !== undefined && withFormat && { response_format: responseFormat(schema) }),
    ...(streams && { stream: true, ...(withUsage && { stream_options: { include_usage: true } }) }),
  });
}

/** With `strict`, OpenAI enforces the schema. A server that cannot enforce it refuses the request. */
function responseFormat(schema: string) {
  return { type: 'json_schema', json_schema: { name: 'reply', strict: true, schema: JSON.parse(schema) } };
}
