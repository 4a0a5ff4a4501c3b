// Completes a line for Tab: the names of slash commands, their arguments from the choices that the commands offer, and the path after an `@`.
import { commandsNamed } from './slash-line.ts';
import { mentionsOf, parseLine } from './typed-line.ts';

/** A completion replaces the part of the line from `from` to `to` by `insert`. */
export interface Completion {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  /** The labels of all choices for that part. */
  readonly choices: readonly string[];
}

export interface CompletionChoice {
  /** The text for the line. */
  readonly value: string;
  /** The text to show for the choice. */
  readonly label: string;
  /** True for a last choice that stands for an unknown number of others. */
  readonly isRest?: boolean;
}

export interface CompletableCommand {
  readonly name: string;
  /** The choices for an argument with this beginning. Undefined for a command without choices. */
  readonly choices?: (beginning: string) => Promise<readonly CompletionChoice[]>;
}

const maxShown = 40;

type FindFiles = (beginning: string) => Promise<readonly CompletionChoice[]>;

export async function complete(
  text: string,
  cursor: number,
  commands: readonly CompletableCommand[],
  findFiles: FindFiles,
): Promise<Completion> {
  const before = text.slice(0, cursor);
  const [, word = '', gap, argument = ''] = /^\/(\S*)(\s+)?([\s\S]*)$/.exec(before) ?? [];
  if (!before.startsWith('/') || before.startsWith('//')) return completeMention(before, findFiles);
  if (gap === undefined) {
    const choices = commands
      .filter(({ name }) => name.startsWith(word))
      .map(({ name, choices }) => ({ value: choices === undefined ? name : `${name} `, label: `/${name}` }));
    return completion(1, cursor, word, choices);
  }
  const [command, other] = commandsNamed(word, commands);
  if (command?.choices === undefined || other !== undefined) return nothing(cursor);
  return completion(cursor - argument.length, cursor, argument, await command.choices(argument));
}

/** Completes the path after the last `@`. A space in an unquoted path follows a backslash. */
async function completeMention(before: string, findFiles: FindFiles): Promise<Completion> {
  const [, quoted, word] = /(?<!\S)@(?:"([^"\n]*)|((?:\\ |[^\s"])*))$/.exec(before) ?? [];
  const typed = quoted ?? word;
  if (typed === undefined) return nothing(before.length);
  const choices = await findFiles(quoted ?? typed.replaceAll('\\ ', ' '));
  const escaped = choices.flatMap(({ value: path, label }) => {
    const value = quoted === undefined ? path.replaceAll(' ', '\\ ') : path;
    return namesOnly(path, quoted === undefined ? `@${value}` : `@"${value}"`) ? [{ value, label }] : [];
  });
  return completion(before.length - typed.length, before.length, typed, escaped);
}

/** False for a name that a line cannot express. Such a name could add another file: `a" @secret`. */
function namesOnly(path: string, line: string): boolean {
  const [first, second] = mentionsOf(parseLine(line));
  return first === path && second === undefined && !/\p{Cc}/u.test(path);
}

function nothing(at: number): Completion {
  return { from: at, to: at, insert: '', choices: [] };
}

/** Inserts the prefix that all choices share, unless the typed text is longer. */
function completion(
  from: number,
  to: number,
  typed: string,
  choices: readonly CompletionChoice[],
): Completion {
  const common = commonPrefix(choices.map(({ value }) => value));
  const labels = choices.slice(0, maxShown).map(({ label }) => label);
  const more = choices.at(-1)?.isRest ? '…' : `… and ${choices.length - maxShown} more`;
  const shown = choices.length > maxShown ? [...labels, more] : labels;
  return { from, to, insert: common.length > typed.length ? common : typed, choices: shown };
}

function commonPrefix([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) {
    length = Math.min(length, other.length);
    while (first.slice(0, length) !== other.slice(0, length)) length--;
  }
  // A prefix must not end in half of a surrogate pair.
  return first.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
