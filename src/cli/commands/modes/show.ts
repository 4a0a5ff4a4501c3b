// `parley modes show`: shows all settings of a mode. Of the key it shows only where it comes from.
import type { Command } from 'commander';
import type { SeenModes } from '../../../config/mode-repository.ts';
import { ParleyError } from '../../../service/errors.ts';
import type { ModeSettings } from '../../../service/mode-settings.ts';
import { unknownMode } from '../../../service/unknown-mode.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { fieldLines } from '../../terminal/fields.ts';
import { successLine } from '../../terminal/json.ts';
import { contextInUse, contextText } from './context-in-use.ts';
import { ownModes } from './own-modes.ts';

export function registerModesShow(parent: Command, run: Run): void {
  parent
    .command('show')
    .description('show all settings of a mode')
    .argument('<name>', 'the mode, as shown by modes list')
    .action(run(runModesShow));
}

export async function runModesShow(name: string, context: CliContext): Promise<void> {
  const modes = await ownModes(context);
  const settings = findMode(name, await modes.read());
  const inUse = await contextInUse(settings, context);
  if (context.options.json) return context.stdout.write(successLine({ ...settings, context: inUse }));
  await context.stdout.write(fieldLines({ ...settings, context_tokens: contextText(inUse) }));
}

/** Throws `UNKNOWN_MODE` for an unknown mode, `USAGE` for a built-in one, and `CONFIG` for an invalid one. */
export function findMode(name: string, seen: SeenModes): ModeSettings {
  const modes = seen.list();
  if (!modes.some((mode) => mode.name === name))
    throw unknownMode(
      name,
      modes.map((mode) => mode.name),
    );
  const settings = seen.settings(name);
  if (settings !== null) return settings;
  throw new ParleyError('USAGE', `Mode ${name} is built in and has no settings.`, {
    hint: 'Add your own: parley modes add NAME --base-url URL --model MODEL',
  });
}
