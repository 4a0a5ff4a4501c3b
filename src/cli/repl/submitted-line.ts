// A submitted line: its message, and whether it is a slash command.
import type { LineState } from './line-state.ts';
import { unfolded } from './line-text.ts';
import { openBlock, parseLine, typedLine } from './typed-line.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, and for text between `"""` or after `//`, whose first slash is a part of the message. */
  readonly mayBeCommand: boolean;
  /** The line for the history and for the prompt. Typed again, it means the same. */
  readonly typed: string;
}

export function submitted({ text: line, pastes }: LineState): SubmittedLine {
  const parsed = parseLine(line, pastes);
  const text = unfolded(parsed.text, pastes);
  return {
    text,
    mayBeCommand: parsed.isCommand,
    typed: typedLine(unfolded(line, pastes), text, parsed.isCommand),
  };
}

/** The text for an external editor: the message alone, or the whole line of a command. */
export function editableText({ text: line, pastes }: LineState): string {
  const blockStart = openBlock(line);
  return unfolded(blockStart === null ? parseLine(line, pastes).text : line.slice(blockStart), pastes);
}
