// `parley help [COMMAND...]`: prints the help of a command or of a topic.
import type { Command } from 'commander';
import { ParleyError } from '../../service/errors.ts';
import { beginning } from '../../service/quoted.ts';
import { commandPath, findCommand, isOfSessions, outputHelpText, shownCommands } from '../command-tree.ts';
import type { CliContext } from '../context.ts';
import { exampleText, fittedText } from '../help-layout.ts';
import { nearestName } from '../nearest-name.ts';
import type { Run } from '../run.ts';
import { successLine } from '../terminal/json.ts';

/** Replaces commander's own `help`, which takes one word and ignores the rest. */
export function registerHelp(parent: Command, run: Run): void {
  parent
    .command('help', { hidden: parent.parent !== null })
    .description('print help for a command or a topic: exit-codes, environment, formatting')
    .argument('[command...]', 'a command or a topic')
    .action(run((words: string[], context: CliContext) => runHelp(words, parent, context)));
  parent.helpCommand(false);
}

export function registerHelpOfGroups(program: Command, run: Run): void {
  for (const group of program.commands) if (group.commands.length > 0) registerHelp(group, run);
}

/** `tree` is the program or the group that this `help` belongs to. */
export async function runHelp(words: readonly string[], tree: Command, context: CliContext): Promise<void> {
  const { isTopic, topicNames, topicText } = await import('../manual/topics.ts');
  const [first = ''] = words;
  if (words.length === 1 && isTopic(first)) {
    return writeText(topicText(first, context.host.columns('stdout')), context);
  }
  let command = tree;
  for (const word of words) {
    const inner = findCommand(command, word);
    if (inner === undefined) {
      const known = shownCommands(command).map((one) => one.name());
      const topics = command === tree && tree.parent === null ? topicNames : [];
      const near = isOfSessions(command, word)
        ? `sessions ${word}`
        : (topics.find((topic) => topic.startsWith(word)) ?? nearestName(word, [...known, ...topics]));
      throw new ParleyError('USAGE', `Unknown command '${beginning(word)}' of ${commandPath(command)}.`, {
        hint: `${near === null ? '' : `Did you mean ${near}? `}See: ${commandPath(command)} --help`,
      });
    }
    command = inner;
  }
  return writeText(outputHelpText(command) + (await helpAppendix(command)), context);
}

/** What the help of a command has besides its options: the commands of the REPL, and examples. It is loaded only for that page. */
export async function helpAppendix(command: Command): Promise<string> {
  const path = commandPath(command);
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  const { examples } = await import('../manual/examples.ts');
  const own = examples[path];
  const replNotes =
    path === 'parley repl' ? fittedText((await import('../repl/repl-help.ts')).replHelp(), width) : '';
  return replNotes + (own === undefined ? '' : exampleText(own, width));
}

async function writeText(text: string, { stdout, options }: CliContext): Promise<void> {
  await stdout.write(options.json ? successLine({ text }) : text);
}
