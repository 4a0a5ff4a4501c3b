// A submitted line: its message, and whether it is a slash command.
import type { LineState } from './line-state.ts';
import { unfolded } from './line-text.ts';
import { openBlock, readingOf, typedLine } from './typed-line.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, and for text between `"""` or behind `//`. A slash at its start is a part of the message. */
  readonly mayBeCommand: boolean;
  /** The line for the history, and for the prompt when it comes back. It says the same when it is typed. */
  readonly typed: string;
}

export function submitted({ text: line, pastes }: LineState): SubmittedLine {
  const { text, isCommand } = readingOf(line, pastes);
  const whole = unfolded(text, pastes);
  return {
    text: whole,
    mayBeCommand: isCommand,
    typed: typedLine(unfolded(line, pastes), whole, isCommand),
  };
}

/** The text that an editor is given: the message alone, or the whole line of a command. */
export function editableText({ text: line, pastes }: LineState): string {
  const begun = openBlock(line);
  return unfolded(begun === null ? readingOf(line, pastes).text : line.slice(begun), pastes);
}
