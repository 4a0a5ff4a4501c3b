// A session's history as an engine is given it: whole turns, oldest first, cut replies marked.
import type { ContextMessage } from '../engine/reply-engine.ts';
import type { Message } from '../service/session.ts';

export function contextWindow(newestMessages: readonly Message[]): readonly ContextMessage[] {
  const start = newestMessages[0]?.role === 'assistant' ? 1 : 0;
  return newestMessages.slice(start).map((message) => ({
    role: message.role,
    content: message.content,
    cut: message.finish_reason === 'interrupted' || message.finish_reason === 'error',
  }));
}
