// A line that was submitted: what it says, and whether that is a slash command.
import { type LineState, wholeLine } from './line-state.ts';
import { openBlock, readingOf, typedLine } from './typed-line.ts';

export interface SubmittedLine {
  readonly text: string;
  /** False for text that was pasted, or written between `"""` or behind `//`: a slash at its start is a slash. */
  readonly mayBeCommand: boolean;
  /** As the history keeps it, and as it comes back to the prompt: typed, it says the same. */
  readonly typed: string;
}

export function submitted(state: LineState): SubmittedLine {
  const line = wholeLine(state);
  const { text, isCommand } = readingOf(line);
  return { text, mayBeCommand: isCommand, typed: typedLine(line) };
}

/** What of the line is written on in an editor: the message, without what is there only to be typed. Of a command all of it. */
export function editableText(state: LineState): string {
  const line = wholeLine(state);
  const begun = openBlock(line);
  return begun === null ? readingOf(line).text : line.text.slice(begun);
}
