// A submitted line: its message, and whether it is a slash command.
import type { LineState } from './line-state.ts';
import { unfoldText } from './line-text.ts';
import { mentionsOf, openBlock, parseLine, typedLine } from './typed-line.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, and for text between `"""` or after `//`, whose first slash is a part of the message. */
  readonly mayBeCommand: boolean;
  /** The paths after each typed `@` of the message. */
  readonly mentions: readonly string[];
  /** The line for the history and for the prompt. Typed again, it means the same. */
  readonly typed: string;
}

export function submittedLine({ text: line, pastes }: LineState): SubmittedLine {
  const parsed = parseLine(line, pastes);
  const text = unfoldText(parsed.text, pastes);
  const mentions = mentionsOf(parsed);
  return {
    text,
    mayBeCommand: parsed.isCommand,
    mentions,
    typed: typedLine(unfoldText(line, pastes), text, parsed.isCommand, mentions),
  };
}

/** The text for an external editor: the message alone, or the whole line of a command. */
export function editableText({ text: line, pastes }: LineState): string {
  const blockStart = openBlock(line);
  return unfoldText(blockStart === null ? parseLine(line, pastes).text : line.slice(blockStart), pastes);
}
