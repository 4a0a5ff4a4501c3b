// Tab: what the line may go on with. The words of slash commands here, their arguments from whoever knows them.

/** The part of the line from `from` to `to` becomes `insert`; `choices` are what it may become, to be shown. */
export interface Completion {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
  readonly choices: readonly string[];
}

export interface CompletionChoice {
  /** What stands in the line. */
  readonly value: string;
  /** What is shown of it. */
  readonly label: string;
}

export interface Completed {
  readonly name: string;
  /** What an argument that begins so may be; undefined for a command that takes none. */
  readonly choices?: (beginning: string) => Promise<readonly CompletionChoice[]>;
}

/** Most that are shown. */
const mostShown = 40;

export async function complete(
  text: string,
  cursor: number,
  commands: readonly Completed[],
): Promise<Completion> {
  const before = text.slice(0, cursor);
  const [, word = '', gap, argument = ''] = /^\/(\S*)(\s+)?([\s\S]*)$/.exec(before) ?? [];
  if (!before.startsWith('/') || before.startsWith('//')) return nothing(cursor);
  if (gap === undefined) {
    const choices = commands
      .filter(({ name }) => name.startsWith(word))
      .map(({ name, choices }) => ({ value: choices === undefined ? name : `${name} `, label: `/${name}` }));
    return completion(1, cursor, word, choices);
  }
  const named = commands.filter(({ name }) => name === word);
  const [command, other] = named.length > 0 ? named : commands.filter(({ name }) => name.startsWith(word));
  if (command?.choices === undefined || other !== undefined) return nothing(cursor);
  return completion(cursor - argument.length, cursor, argument, await command.choices(argument));
}

function nothing(at: number): Completion {
  return { from: at, to: at, insert: '', choices: [] };
}

/** What all choices have in common is put in; nothing is taken away. */
function completion(
  from: number,
  to: number,
  typed: string,
  choices: readonly CompletionChoice[],
): Completion {
  const common = commonBeginning(choices.map(({ value }) => value));
  const labels = choices.slice(0, mostShown).map(({ label }) => label);
  const shown = choices.length > mostShown ? [...labels, `… and ${choices.length - mostShown} more`] : labels;
  return { from, to, insert: common.length > typed.length ? common : typed, choices: shown };
}

function commonBeginning([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  for (const other of others) {
    length = Math.min(length, other.length);
    while (first.slice(0, length) !== other.slice(0, length)) length--;
  }
  // Half of a surrogate pair is no text.
  return first.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}
