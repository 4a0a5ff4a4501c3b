// What is to be known of a turn besides its reply: who replied, and what the model was not sent. The same words in a chat and in the REPL.
import type { ChatReply } from '../service/chat-event.ts';
import type { Usage } from '../service/session.ts';

/** `asked` is the mode that the turn was for. */
export function turnNotes(reply: ChatReply, asked: string): readonly string[] {
  const { mode, turns_left_out: leftOut = 0 } = reply;
  const turns = leftOut === 1 ? '1 earlier turn was' : `${leftOut} earlier turns were`;
  return [
    ...(mode === asked ? [] : [`The mode ${asked} failed; ${mode} replied.`]),
    ...(leftOut === 0
      ? []
      : [`${turns} left out: by estimate the conversation is longer than the context of the mode ${mode}.`]),
  ];
}

export function tokensLine(usage: Usage | null): string {
  if (usage === null) return 'tokens: not counted by this mode';
  return `tokens: ${usage.input_tokens} in, ${usage.output_tokens} out`;
}
