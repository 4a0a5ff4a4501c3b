// Parses a line when Enter is pressed. Slashes, `"""`, `@` and a final backslash have a special meaning only if they were typed. Pasted text,
// and a message that returned to the prompt, contain literal characters in their place (line-text.ts).
import { escapeSlash, plain } from './line-text.ts';

interface ParsedLine {
  readonly isCommand: boolean;
  /** True for a message between `"""` and `"""`. */
  readonly isQuoted: boolean;
  /** The message, or the whole line of a command. */
  readonly text: string;
  /** The position of the message in the line, or of the argument of a command. */
  readonly from: number;
  readonly to: number;
}

const quotes = '"""';

/** The position at which the text of an open block begins. Enter adds a line to such a block. Null for any other line. */
export function openBlock(line: string): number | null {
  const block = blockOf(line);
  return block !== null && block.to === null ? block.from : null;
}

/** True if the line ends in a backslash that continues it in another line. An even number of backslashes is literal text. */
export function asksForMore(line: string): boolean {
  return blockOf(line) === null && (line.length - lengthWithout(line, '\\')) % 2 === 1;
}

/** True if Enter at the end of the line does not submit it. */
export function isOpen(line: string): boolean {
  return openBlock(line) !== null || asksForMore(line);
}

/** Parses a submitted line without folds. */
export function parseLine(line: string): ParsedLine {
  const block = blockOf(line);
  if (block !== null && block.to !== null) return { ...message(line, block.from, block.to), isQuoted: true };
  const isSecond = plain(line.charAt(1)) === '/';
  if (line.startsWith(escapeSlash)) return message(line, isSecond ? 1 : 0, line.length);
  if (!line.startsWith('/')) return message(line, 0, line.length);
  if (isSecond) return message(line, 1, line.length);
  const [word = ''] = /^\/\S*[ \t]*/.exec(line) ?? [];
  return { isCommand: true, isQuoted: false, text: line, from: word.length, to: line.length };
}

/**
 * The line to type for a message that names no files: the message itself if it is parsed as that message, otherwise with a slash or quotes
 * around it.
 */
export function lineFor(text: string): string {
  const simple = [text, `/${text}`].find((line) => isParsedAs(line, text, false, []));
  return simple ?? `${quotes}\n${text}\n${quotes}`;
}

/**
 * The line to type for a submitted line. `line` is its plain text, which often means the same even if a part of it was pasted. `mentions` are
 * the paths that it names ({@link mentionsOf}).
 */
export function typedLine(
  line: string,
  text: string,
  isCommand: boolean,
  mentions: readonly string[],
): string {
  if (isParsedAs(line, text, isCommand, mentions)) return line;
  // A command ignores white space at its end. White space after a backslash removes the special meaning of the backslash.
  return isCommand ? `${line} ` : lineFor(text);
}

function isParsedAs(line: string, text: string, isCommand: boolean, mentions: readonly string[]): boolean {
  if (isOpen(line)) return false;
  const parsed = parseLine(line);
  if (parsed.isCommand !== isCommand || parsed.text !== text) return false;
  const found = mentionsOf(parsed);
  return found.length === mentions.length && found.every((path, at) => path === mentions[at]);
}

/**
 * The paths that a parsed line names: what follows each `@` at the start of a word, as in `Compare @a.ts and @"my notes.md"`. Commands and
 * quoted messages name none, and neither does a literal `@`.
 */
export function mentionsOf(line: ParsedLine): readonly string[] {
  return mentionsIn(line).map(({ path }) => path);
}

interface Mention {
  readonly path: string;
  /** The position in the text of the parsed line, with the `@`. */
  readonly from: number;
  readonly to: number;
}

export function mentionsIn({ isCommand, isQuoted, text }: ParsedLine): readonly Mention[] {
  if (isCommand || isQuoted || !text.includes('@')) return [];
  const words = plain(text).matchAll(/(?<!\S)@("[^"\n]+"|(?:\\ |\S)+)/g);
  return Array.from(words, ({ 0: all, 1: word = '', index: from }) => ({
    path: pathIn(word),
    from,
    to: from + all.length,
  })).filter(({ from }) => text.charAt(from) === '@');
}

/** The path of a word that may be in quotes, as in `"my notes.md"`, or have a backslash before each space. */
export function pathIn(word: string): string {
  const [, quoted] = /^"([^"\n]+)"$/.exec(word) ?? [];
  return quoted ?? word.replaceAll('\\ ', ' ');
}

function message(line: string, from: number, to: number): ParsedLine {
  return { isCommand: false, isQuoted: false, text: line.slice(from, to), from, to };
}

/** The text between `"""` and `"""`. Spaces and the newline beside the quotes are not part of the text. */
function blockOf(line: string): { readonly from: number; readonly to: number | null } | null {
  const [opening] = /^"""[ \t]*\n?/.exec(line) ?? [];
  if (opening === undefined) return null;
  const from = opening.length;
  const end = line.slice(0, plain(line).trimEnd().length);
  if (end.length < 2 * quotes.length || !end.endsWith(quotes)) return { from, to: null };
  const rows = line.slice(0, Math.max(from, end.length - quotes.length));
  const to = lengthWithout(rows, ' \t');
  return { from, to: Math.max(from, rows[to - 1] === '\n' ? to - 1 : to) };
}

/** The length of a text without these characters at its end. A regular expression takes quadratic time for long runs. */
function lengthWithout(text: string, characters: string): number {
  let length = text.length;
  while (length > 0 && characters.includes(text.charAt(length - 1))) length--;
  return length;
}
