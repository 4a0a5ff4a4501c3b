// Parses a slash command: its name, which may be shortened as long as it is unique, and its argument. The functions are pure.
import { beginning } from '../../service/quoted.ts';

export type Resolved<Command> =
  | { readonly kind: 'command'; readonly command: Command; readonly argument: string }
  /** The message to show. It suggests a similar command if there is one. */
  | { readonly kind: 'unknown'; readonly problem: string };

/** `line` begins with a slash. */
export function resolveSlash<Command extends { readonly name: string }>(
  line: string,
  commands: readonly Command[],
): Resolved<Command> {
  const [, word = ''] = /^\/(\S*)/.exec(line) ?? [];
  const argument = line.slice(word.length + 1).trim();
  const found = commands.filter(({ name }) => name === word);
  const candidates = found.length > 0 ? found : commands.filter(({ name }) => name.startsWith(word));
  const [first, second] = candidates;
  if (word !== '' && first !== undefined && second === undefined)
    return { kind: 'command', command: first, argument };
  if (word !== '' && candidates.length > 1) {
    const names = candidates.map(({ name }) => `/${name}`).join(' or ');
    return { kind: 'unknown', problem: `/${word} is ambiguous: ${names}. Nothing was done.` };
  }
  const near = nearest(word.toLowerCase(), commands);
  const advice = near === null ? '/help lists the commands.' : `Did you mean /${near}?`;
  return {
    kind: 'unknown',
    problem: `There is no command /${beginning(word)}. ${advice} Nothing was sent. (// sends a message that begins with a slash.)`,
  };
}

/** The name that is most similar to the word. Null if none is similar enough. */
function nearest(word: string, commands: readonly { readonly name: string }[]): string | null {
  let best: string | null = null;
  let fewest = Math.max(2, Math.ceil(word.length / 3)) + 1;
  for (const { name } of commands) {
    const changes = distance(word, name);
    if (changes < fewest) [best, fewest] = [name, changes];
  }
  return word === '' ? null : best;
}

/** The edit distance: the number of letters to add, remove, change, or swap with a neighbour. */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, index) => [index]);
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let column = 1; column <= other.length; column++) rows[0]?.push(column);
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const change = one[row - 1] === other[column - 1] ? 0 : 1;
      let least = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + change,
      );
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) least = Math.min(least, at(row - 2, column - 2) + 1);
      rows[row]?.push(least);
    }
  }
  return at(one.length, other.length);
}
