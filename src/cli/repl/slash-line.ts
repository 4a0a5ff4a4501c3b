// Parses a slash command: its name, which may be shortened as long as it is unique, and its argument. The functions are pure.
import { beginning } from '../../service/quoted.ts';
import { nearestName } from '../nearest-name.ts';

/** Names of commands in other programs → the command here. */
const foreignNames: Readonly<Record<string, string>> = {
  add: 'file',
  attach: 'file',
  branch: 'fork',
  bye: 'quit',
  clear: 'new',
  continue: 'resume',
  export: 'save',
  find: 'search',
  info: 'status',
  list: 'sessions',
  load: 'resume',
  models: 'mode',
  prompt: 'system',
  remove: 'delete',
  rename: 'title',
  reset: 'new',
  rewind: 'undo',
  set: 'param',
  usage: 'status',
};

/** Commands that ignore an argument, because refusing it would help nobody. */
const ignoringCommands: readonly string[] = ['help', 'quit', 'exit'];

type ResolvedCommand<Command> =
  | { readonly kind: 'command'; readonly command: Command; readonly argument: string }
  /** The message to show. For an unknown command it suggests a similar one if there is one. */
  | { readonly kind: 'refused'; readonly problem: string };

/** The command with this name, or else all commands whose name begins with it. */
export function commandsNamed<Command extends { readonly name: string }>(
  word: string,
  commands: readonly Command[],
): readonly Command[] {
  const found = commands.filter(({ name }) => name === word);
  return found.length > 0 ? found : commands.filter(({ name }) => name.startsWith(word));
}

/** `line` begins with a slash. */
export function resolveSlash<Command extends { readonly name: string; readonly argument?: string }>(
  line: string,
  commands: readonly Command[],
): ResolvedCommand<Command> {
  const [, word = ''] = /^\/(\S*)/.exec(line) ?? [];
  const argument = line.slice(word.length + 1).trim();
  const candidates = commandsNamed(word, commands);
  const [first, second] = candidates;
  if (word !== '' && first !== undefined && second === undefined) {
    const { name } = first;
    const takesArgument = first.argument !== '' || ignoringCommands.includes(name);
    return argument === '' || takesArgument
      ? { kind: 'command', command: first, argument }
      : { kind: 'refused', problem: `/${name} takes no argument. Nothing was done.` };
  }
  if (word !== '' && candidates.length > 1) {
    const names = candidates.map(({ name }) => `/${name}`).join(', ');
    return { kind: 'refused', problem: `/${word} is ambiguous: ${names}. Nothing was done.` };
  }
  const foreign = Object.hasOwn(foreignNames, word) ? foreignNames[word] : undefined;
  const names = commands.map(({ name }) => name);
  const near = names.find((name) => name === foreign) ?? nearestName(word.toLowerCase(), names);
  const advice = near === null ? '/help lists the commands.' : `Did you mean /${near}?`;
  return {
    kind: 'refused',
    problem: `There is no command /${beginning(word)}. ${advice} Nothing was sent. (// sends a message that begins with a slash.)`,
  };
}
