// Parses a slash command: its name, which may be shortened as long as it is unique, and its argument. The functions are pure.
import { beginning } from '../../service/quoted.ts';
import { nearestName } from '../nearest-name.ts';

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
  const near = nearestName(
    word.toLowerCase(),
    commands.map(({ name }) => name),
  );
  const advice = near === null ? '/help lists the commands.' : `Did you mean /${near}?`;
  return {
    kind: 'unknown',
    problem: `There is no command /${beginning(word)}. ${advice} Nothing was sent. (// sends a message that begins with a slash.)`,
  };
}
