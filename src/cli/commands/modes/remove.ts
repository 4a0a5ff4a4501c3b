// `parley modes remove`: removes a mode. Its sessions stay unchanged.
import type { Command } from 'commander';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { ownModes } from './own-modes.ts';

export function registerModesRemove(parent: Command, run: Run): void {
  parent
    .command('remove')
    .description('remove a mode; its sessions stay')
    .argument('<name>', 'the mode, as shown by modes list')
    .action(run(runModesRemove));
}

export async function runModesRemove(name: string, context: CliContext): Promise<void> {
  const modes = await ownModes(context);
  const wasDefault = (await modes.read()).list().some((mode) => mode.default && mode.name === name);
  await modes.remove(name);
  if (context.options.json) await context.stdout.write(successLine({ name }));
  else await context.say(`Removed mode ${name}.`);
  if (!wasDefault) return;
  const next = (await modes.read()).list().find((mode) => mode.default)?.name;
  if (next !== undefined)
    await context.say(
      `It was the default mode; the default is now ${next}. To change it: parley modes default NAME`,
    );
}
