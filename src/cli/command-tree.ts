// Reads commander's tree for help, completion and the manual.
import type { Command } from 'commander';

/** The words of a command as they are typed, such as `parley sessions delete`. */
export function commandPath(command: Command): string {
  return command.parent === null ? command.name() : `${commandPath(command.parent)} ${command.name()}`;
}

/** Visits every command of a tree, including hidden ones. A group comes before its commands. */
export function eachCommand(command: Command, visit: (command: Command) => void): void {
  visit(command);
  for (const inner of command.commands) eachCommand(inner, visit);
}

/** The commands that the help of a group shows. */
export function shownCommands(group: Command): readonly Command[] {
  return group.createHelp().visibleCommands(group);
}

export function findCommand(group: Command, word: string): Command | undefined {
  return group.commands.find((command) => command.name() === word || command.aliases().includes(word));
}

/** True for a word that names a command of `sessions`. Users often leave out the name of that group. */
export function isOfSessions(program: Command, word: string): boolean {
  const sessions = findCommand(program, 'sessions');
  return sessions !== undefined && findCommand(sessions, word) !== undefined;
}

/** The whole output of `--help`, with the examples at its end. */
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
