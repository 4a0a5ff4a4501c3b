// A group of commands, such as `parley keys …`.
import { helpNote } from './help-layout.ts';
import type { Register } from './run.ts';

interface CommandGroup {
  readonly name: string;
  readonly description: string;
  /** The text after the options in the help of the group. */
  readonly help?: string;
  readonly commands: Readonly<Record<string, Register>>;
}

/**
 * Returns the registration of the group. It registers the command that follows the group on the command line, or all if that word names none of
 * them, or none if the word is null.
 */
export function commandGroup({ name, description, help, commands }: CommandGroup): Register {
  return (parent, run, second = '') => {
    const group = parent.command(name).description(description);
    if (help !== undefined) group.addHelpText('after', helpNote(help));
    if (second === null) return;
    const named = Object.hasOwn(commands, second) ? commands[second] : undefined;
    for (const register of named ? [named] : Object.values(commands)) register(group, run);
  };
}
