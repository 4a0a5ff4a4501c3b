// The request of a chat completion, as OpenAI's API has it (https://platform.openai.com/docs/api-reference/chat/create).
import type { ModeSettings } from '../../service/mode-settings.ts';
import type { ContextMessage, EngineContext } from '../reply-engine.ts';

/** What a server is told of a reply that was cut: it stands in the history as far as it came. */
export const cutMark = '[This reply was cut off here.]';

/**
 * Where a base URL has its chat completions. Vendors document bases with a path (`…/v1`, `…/openai/v1`, `…/v1beta/openai`), to which
 * `/chat/completions` is added, and bases without one, which stand for `/v1`. One that ends in `/chat/completions` is taken as it is.
 */
export function completionsPath(baseUrl: string): string {
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '');
  if (path.endsWith('/chat/completions')) return path;
  return `${path === '' ? '/v1' : path}/chat/completions`;
}

export function completionBody(
  settings: ModeSettings,
  context: EngineContext,
  { withUsage }: { readonly withUsage: boolean },
): string {
  const { model, system, temperature, parameters } = settings;
  return JSON.stringify({
    model,
    messages: [
      ...(system === null ? [] : [{ role: 'system', content: system }]),
      ...context.history.map(({ role, content, cut }) => ({ role, content: contentOf({ content, cut }) })),
      { role: 'user', content: context.message },
    ],
    ...(temperature !== null && { temperature }),
    ...parameters,
    stream: true,
    ...(withUsage && { stream_options: { include_usage: true } }),
  });
}

function contentOf({ content, cut }: Pick<ContextMessage, 'content' | 'cut'>): string {
  return cut ? `${content}\n${cutMark}` : content;
}
