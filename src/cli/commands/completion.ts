// `parley completion SHELL` prints the completion script of a shell. That script calls the hidden `parley __complete` at each Tab.
import { Argument, type Command } from 'commander';
import type { CliContext, Printing } from '../context.ts';
import type { Run } from '../run.ts';
import { successLine } from '../terminal/json.ts';

const shells = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof shells)[number];

export function registerCompletion(parent: Command, run: Run): void {
  parent
    .command('completion')
    .description('print the completion script for commands, options, modes, profiles and sessions')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(run(runCompletion));
}

export async function runCompletion(shell: Shell, context: Printing): Promise<void> {
  const { completionScripts } = await import('../completion/scripts.ts');
  const script = completionScripts[shell];
  await context.stdout.write(context.options.json ? successLine({ shell, script }) : script);
}

export function registerComplete(parent: Command, run: Run): void {
  parent
    .command('__complete', { hidden: true })
    .description('print the possible next words: word, tab, description; then :files if paths are possible')
    .argument('[words...]', 'after --: the words so far; the last one may be incomplete')
    .action(run((words: string[], context: CliContext) => runComplete(words, parent, context)));
}

/**
 * `words` are all words between `parley` and the cursor; the last one is completed and may be empty. The function never fails and never writes
 * an error, because the shell would show it in the middle of the line.
 */
export async function runComplete(
  words: readonly string[],
  program: Command,
  context: CliContext,
): Promise<void> {
  const { completionLines } = await import('../completion/completion-lines.ts');
  await context.stdout.write(await completionLines(words, program, context));
}
