// Remarks about a turn: who replied, and what the model did not get. A chat and the REPL use the same words.
import type { ChatReply } from '../service/chat-event.ts';
import type { Usage } from '../service/session.ts';
import { quoteForShell } from '../system/shell-quote.ts';

/** `asked` is the mode that the turn asked for. */
export function turnNotes(reply: ChatReply, asked: string): readonly string[] {
  const { mode, reply: text, turns_left_out: leftOut } = reply;
  const turns = leftOut === 1 ? '1 earlier turn was' : `${leftOut} earlier turns were`;
  return [
    ...(mode === asked ? [] : [`The mode ${asked} failed; ${mode} replied.`]),
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
