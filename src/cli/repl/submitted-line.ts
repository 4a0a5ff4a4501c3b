// A line that was submitted: what it says, and whether that is a slash command.
import type { LineState } from './line-state.ts';
import { unfolded } from './line-text.ts';
import { openBlock, readingOf, typedLine } from './typed-line.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, or written between `"""` or behind `//`: a slash at its start is a slash. */
  readonly mayBeCommand: boolean;
  /** The line as the history keeps it, and as it comes back to the prompt. Typed, it says the same. */
  readonly typed: string;
}

export function submitted({ text: line, pastes }: LineState): SubmittedLine {
  const { text, isCommand } = readingOf(line);
  const whole = unfolded(text, pastes);
  return {
    text: whole,
    mayBeCommand: isCommand,
    typed: typedLine(unfolded(line, pastes), whole, isCommand),
  };
}

/** The part of the line that an editor is given: the message, without what is there only to be typed. Of a command all of it. */
export function editableText({ text: line, pastes }: LineState): string {
  const begun = openBlock(line);
  return unfolded(begun === null ? readingOf(line).text : line.slice(begun), pastes);
}
