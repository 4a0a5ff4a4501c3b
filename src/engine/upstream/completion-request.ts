// The request of a chat completion of OpenAI's API (https://platform.openai.com/docs/api-reference/chat/create).
import type { ModeSettings } from '../../service/mode-settings.ts';
import type { ContextMessage, EngineContext } from '../reply-engine.ts';

/** Follows a cut reply in the history, so that the model does not take the reply for a complete one. */
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

/** The session's system prompt follows that of the mode, in one message. The session's parameters replace those of the mode, name by name. */
export function completionBody(
  settings: ModeSettings,
  context: EngineContext,
  { withUsage }: { readonly withUsage: boolean },
): string {
  const { model, temperature, parameters } = settings;
  const system = [settings.system, context.system].filter((text) => text != null).join('\n\n');
  return JSON.stringify({
    model,
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...context.history.map(({ role, content, cut }) => ({ role, content: contentOf({ content, cut }) })),
      { role: 'user', content: context.message },
    ],
    ...(temperature !== null && { temperature }),
    ...parameters,
    ...context.parameters,
    stream: true,
    ...(withUsage && { stream_options: { include_usage: true } }),
  });
}

function contentOf({ content, cut }: Pick<ContextMessage, 'content' | 'cut'>): string {
  return cut ? `${content}\n${cutMark}` : content;
}
