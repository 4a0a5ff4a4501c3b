// How a line is read when Enter is pressed. Slashes, `"""` and a backslash at the end have a meaning only where they were typed: text that
// was pasted, or came back as a message, is no more than it is. For any message there is a line that, typed, says just that.

/**
 * A text, and for each of its units where it comes from: `t` it was typed, `p` it is text that was pasted or came back, `e` it is the slash
 * that keeps such a text from being a command.
 */
export interface MarkedText {
  readonly text: string;
  readonly marks: string;
}

export interface Reading {
  readonly isCommand: boolean;
  /** The message; of a command all of the line. */
  readonly text: string;
  /** Where in the line its text stands: the message, or what follows the word of a command. */
  readonly from: number;
  readonly to: number;
}

const quotes = '"""';

export function typedText(text: string): MarkedText {
  return { text, marks: 't'.repeat(text.length) };
}

/** A line that begins a block which nothing ends yet: Enter is a line end there. Where its text begins; null for any other line. */
export function openBlock(line: MarkedText): number | null {
  const block = blockOf(line);
  return block !== null && block.to === null ? block.from : null;
}

/** Ends in a backslash that asks for another line. An even number of them is so many backslashes. */
export function asksForMore({ text, marks }: MarkedText): boolean {
  let count = 0;
  for (let at = text.length - 1; text[at] === '\\' && marks[at] === 't'; at--) count++;
  return blockOf({ text, marks }) === null && count % 2 === 1;
}

/** Enter at its end does not submit it. */
export function isOpen(line: MarkedText): boolean {
  return openBlock(line) !== null || asksForMore(line);
}

/** What a line says that is submitted. */
export function readingOf(line: MarkedText): Reading {
  const { text, marks } = line;
  const block = blockOf(line);
  if (block !== null && block.to !== null) return message(text, block.from, block.to);
  if (!text.startsWith('/') || marks[0] === 'p') return message(text, 0, text.length);
  if (text.startsWith('//')) return message(text, 1, text.length);
  if (marks[0] === 'e') return message(text, 0, text.length);
  const [word = ''] = /^\/\S*[ \t]*/.exec(text) ?? [];
  return { isCommand: true, text, from: word.length, to: text.length };
}

/** The line to type for a message: the text itself, if it is one to whoever reads it. */
export function lineFor(text: string): string {
  const plain = [text, `/${text}`].find((line) => says(line, text, false));
  return plain ?? `${quotes}\n${text}\n${quotes}`;
}

/** A submitted line as it would be typed: as it stands if that says the same, even if some of it was pasted. */
export function typedLine(line: MarkedText): string {
  const { text, isCommand } = readingOf(line);
  if (says(line.text, text, isCommand)) return line.text;
  // White space after a command is nothing to it, and ends what a backslash would go on with.
  return isCommand ? `${line.text} ` : lineFor(text);
}

function says(line: string, text: string, isCommand: boolean): boolean {
  const typed = typedText(line);
  if (isOpen(typed)) return false;
  const reading = readingOf(typed);
  return reading.isCommand === isCommand && reading.text === text;
}

function message(line: string, from: number, to: number): Reading {
  return { isCommand: false, text: line.slice(from, to), from, to };
}

/** Between `"""` and `"""`; on the rows of these, blanks and the line end belong to them. */
function blockOf(line: MarkedText): { readonly from: number; readonly to: number | null } | null {
  const { text, marks } = line;
  const isTyped = (characters: string, at: number) =>
    marks[at] === 't' && characters.includes(text[at] ?? '');
  const areQuotes = (at: number) => text.startsWith(quotes, at) && marks.startsWith('ttt', at);
  if (!areQuotes(0)) return null;
  let from = quotes.length;
  while (isTyped(' \t', from)) from++;
  if (isTyped('\n', from)) from++;
  let to = text.trimEnd().length - quotes.length;
  if (to < quotes.length || !areQuotes(to)) return { from, to: null };
  while (to > from && isTyped(' \t', to - 1)) to--;
  if (to > from && isTyped('\n', to - 1)) to--;
  return { from, to };
}
