// What is to be known of a turn besides its reply: who replied, and what the model was not sent. The same words in a chat and in the REPL.
import type { ChatReply, ChatRequest } from '../service/chat-event.ts';
import type { Usage } from '../service/session.ts';
import { quoteForShell } from '../system/shell-quote.ts';

/** `asked`: what the turn was for. The session is null for a new one. */
export function turnNotes(
  reply: ChatReply,
  asked: Pick<ChatRequest, 'mode' | 'session_id'>,
): readonly string[] {
  const { mode, session_id, reply: text, turns_left_out: leftOut } = reply;
  const turns = leftOut === 1 ? '1 earlier turn was' : `${leftOut} earlier turns were`;
  return [
    ...(mode === asked.mode ? [] : [`The mode ${asked.mode} failed; ${mode} replied.`]),
    ...(asked.session_id === null || session_id === asked.session_id
      ? []
      : [`The server replied in session ${session_id}, and was asked in ${asked.session_id}.`]),
    ...(leftOut === 0
      ? []
      : [`${turns} left out: by estimate the conversation is longer than the context of the mode ${mode}.`]),
    ...(beginsInNotes(text)
      ? [
          `What stands before </think> are the model’s notes. To keep them apart: parley modes set ${quoteForShell(mode)} --think-tags open`,
        ]
      : []),
  ];
}

export function tokensLine(usage: Usage | null): string {
  if (usage === null) return 'tokens: not counted by this mode';
  return `tokens: ${usage.input_tokens} in, ${usage.output_tokens} out`;
}

/** True for a reply that contains only the closing tag of the notes: the templates of some models open the tag themselves. */
export function beginsInNotes(reply: string): boolean {
  const [before, after] = reply.split(/<\/think(?:ing)?>[ \t]*\n/, 2);
  return after !== undefined && !/<\/?think(ing)?>/.test(before ?? '');
}
