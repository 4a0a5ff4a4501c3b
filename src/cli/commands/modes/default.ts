// `parley modes default`: sets the default mode of the embedded service.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { ownModes } from './own-modes.ts';

export function registerModesDefault(parent: Command, run: Run): void {
  parent
    .command('default')
    .description('set the default mode')
    .argument('<name>', 'the mode, as shown by modes list')
    .action(run(runModesDefault));
}

export async function runModesDefault(name: string, context: CliContext): Promise<void> {
  await (await ownModes(context)).setDefault(name);
  if (context.options.json) await context.stdout.write(successLine({ name }));
  else await context.say(`Mode ${name} is now the default.`);
}
