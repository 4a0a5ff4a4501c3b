// Notes about a turn, for chats and the REPL: which mode replied, and which turns were not sent to the model.
import type { ChatReply, ChatRequest } from '../service/chat-event.ts';
import type { Usage } from '../service/session.ts';
import { quoteForShell } from '../system/shell-quote.ts';

/** `request` is that of the turn. Its session is null for a new session. */
export function turnNotes(
  reply: ChatReply,
  request: Pick<ChatRequest, 'mode' | 'session_id'>,
): readonly string[] {
  const { mode, session_id, reply: text, turns_left_out: leftOut, failure } = reply;
  const turns = leftOut === 1 ? '1 earlier turn was' : `${leftOut} earlier turns were`;
  return [
    ...(mode === request.mode
      ? []
      : [`${failure?.message ?? `The mode ${request.mode} failed.`} The mode ${mode} replied.`]),
    ...(request.session_id === null || session_id === request.session_id
      ? []
      : [`The server replied in session ${session_id} instead of ${request.session_id}.`]),
    ...(leftOut === 0
      ? []
      : [`${turns} left out: the conversation is estimated to exceed the context of the mode ${mode}.`]),
    ...(startsInReasoning(text)
      ? [
          `The text before </think> is the model’s reasoning. To separate it: parley modes set ${quoteForShell(mode)} --think-tags open`,
        ]
      : []),
  ];
}

export function tokensLine(usage: Usage | null): string {
  if (usage === null) return 'tokens: not counted by this mode';
  return `tokens: ${usage.input_tokens} in, ${usage.output_tokens} out`;
}

/** True for a reply that contains only the closing tag of the reasoning. The prompt templates of some models contain the opening tag. */
export function startsInReasoning(reply: string): boolean {
  const [before, after] = reply.split(/<\/think(?:ing)?>[ \t]*\n/, 2);
  return after !== undefined && !/<\/?think(ing)?>/.test(before ?? '');
}
