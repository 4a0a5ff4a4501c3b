// `parley modes set`: changes settings of a mode. The others stay.
import type { Command } from 'commander';
import type { SeenModes } from '../../../config/mode-repository.ts';
import { hasCode, ParleyError } from '../../../service/errors.ts';
import { defaultModeSettings, type ModeSettings } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { noteShared, warnAboutMissingKey } from './add.ts';
import { addModeOptions, type ModeFlags, withFlags } from './mode-flags.ts';
import { withOptionNames } from './option-names.ts';
import { ownModes } from './own-modes.ts';
import { findMode } from './show.ts';

export function registerModesSet(parent: Command, run: Run): void {
  addModeOptions(
    parent
      .command('set')
      .description('change settings of a mode')
      .argument('<name>', 'the mode, as shown by modes list'),
  ).action(run(runModesSet));
}

export async function runModesSet(name: string, flags: ModeFlags, context: CliContext): Promise<void> {
  const modes = await ownModes(context);
  const seen = await modes.read();
  const before = await settingsToChange(name, seen, context);
  const { insecureHttp } = context.options;
  if (Object.keys(flags).length === 0 && !insecureHttp) {
    throw new ParleyError('USAGE', `No settings were given for mode ${name}.`, {
      hint: `Name what to change, as in parley modes set ${name} --model MODEL. All settings: parley modes set --help`,
    });
  }
  const settings: ModeSettings = await withFlags(before, flags, context);
  await withOptionNames(flags, () => modes.put(settings, seen));
  if (context.options.json) return context.stdout.write(successLine(settings));
  await context.say(`Changed mode ${name}.`);
  await noteShared(context);
  await warnAboutMissingKey(settings.key, context);
}

/** The settings to change. An invalid mode keeps its stored settings, because the change may repair them. The result is validated. */
async function settingsToChange(name: string, seen: SeenModes, context: CliContext): Promise<ModeSettings> {
  try {
    return findMode(name, seen);
  } catch (error) {
    if (!hasCode(error, 'CONFIG')) throw error;
    const stored = seen.stored(name);
    if (stored === null) throw error;
    const unknown = Object.keys(stored).filter((field) => !settingNames.includes(field));
    if (unknown.length > 0) await context.say(`Dropped unknown settings: ${unknown.join(', ')}.`);
    const known = Object.entries(stored).filter(([field]) => settingNames.includes(field));
    return {
      ...defaultModeSettings,
      ...(Object.fromEntries(known) as Partial<ModeSettings>),
      name,
    } as ModeSettings;
  }
}

const settingNames: readonly string[] = [...Object.keys(defaultModeSettings), 'base_url', 'model'];
