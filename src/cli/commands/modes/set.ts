// `parley modes set`: changes some settings of a mode; the others stay.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import type { ModeSettings } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { sayMissingKey } from './add.ts';
import { addModeOptions, type ModeFlags, withFlags } from './mode-flags.ts';
import { underOptionNames } from './option-names.ts';
import { findMode } from './show.ts';

export interface ModesSetInput {
  readonly name: string;
  readonly flags: ModeFlags;
}

export function registerModesSet(parent: Command, run: Run): void {
  addModeOptions(parent.command('set').description('change settings of a mode').argument('<name>')).action(
    (name: string, flags: ModeFlags, command: Command) =>
      run(command, (context) => runModesSet({ name, flags }, context)),
  );
}

export async function runModesSet({ name, flags }: ModesSetInput, context: CliContext): Promise<undefined> {
  const { home } = await context.open();
  const before = await findMode(name, context);
  const { insecureHttp } = context.options;
  if (Object.keys(flags).length === 0 && !insecureHttp) {
    throw new ParleyError('USAGE', `Nothing to change was named for the mode ${name}.`, {
      hint: `Name what is to change: parley modes set ${name} --model MODEL. All settings: parley modes set --help`,
    });
  }
  const settings: ModeSettings = withFlags(before, flags, insecureHttp);
  await underOptionNames(flags, () => home.administration.putMode(settings));
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: settings })}\n`);
    return;
  }
  await context.say(`Changed the mode ${name}.`);
  await sayMissingKey(settings.key, context);
}
