// Ways through commander's tree, for what is made of it: help, completion, the manual.
import type { Command } from 'commander';

/** As it is typed: `parley sessions delete`. */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** Every command of a tree, hidden ones too, a group before what is in it. */
export function eachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const inner of command.commands) eachCommand(inner, visit);
}

/** The commands of a group that its help shows. */
export function shownCommands(group: Command): readonly Command[] {
  return group.createHelp().visibleCommands(group);
}

export function findCommand(group: Command, word: string): Command | undefined {
  return group.commands.find((command) => command.name() === word || command.aliases().includes(word));
}

/** All that `--help` prints, the examples at its end as well. */
export function outputHelpText(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}
