// A submitted line: its message, and whether it is a slash command.
import type { LineState } from './line-state.ts';
import { expandFolds, plain } from './line-text.ts';
import { mentionsOf, openBlock, parseLine, typedLine } from './typed-line.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, and for text between `"""` or after `//`, whose first slash is a part of the message. */
  readonly mayBeCommand: boolean;
  /** The paths after each typed `@` of the message. */
  readonly mentions: readonly string[];
  /** The line for the history. Typed again, it means the same, but names no files if it also has a pasted `@` at the start of a word. */
  readonly typed: string;
  /** The line for the prompt after a failure. It names the same files, even if a pasted `@` is a part of it (line-text.ts). */
  readonly returned: string;
}

export function submittedLine(state: LineState): SubmittedLine {
  const line = expandFolds(state.text, state.pastes);
  const parsed = parseLine(line);
  const text = plain(parsed.text);
  const mentions = mentionsOf(parsed);
  const typed = typedLine(plain(line), text, parsed.isCommand, mentions);
  return {
    text,
    mayBeCommand: parsed.isCommand,
    mentions,
    typed,
    returned: mentions.length === 0 ? typed : line,
  };
}

/** The text for an external editor: the message alone, or the whole line of a command. */
export function editableText(state: LineState): string {
  const line = expandFolds(state.text, state.pastes);
  const blockStart = openBlock(line);
  return plain(blockStart === null ? parseLine(line).text : line.slice(blockStart));
}
