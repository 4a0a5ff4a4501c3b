// `parley modes add`: makes a mode of a model.
import type { Command } from 'commander';
import { ParleyError } from '../../../service/errors.ts';
import { defaultModeSettings, type ModeSettings } from '../../../service/mode-settings.ts';
import { beginning } from '../../../service/quoted.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { toJson } from '../../terminal/json.ts';
import { isOllama, sayOllamaWindow } from '../setup/ollama-window.ts';
import { addModeOptions, type ModeFlags, withFlags } from './mode-flags.ts';
import { underOptionNames } from './option-names.ts';
import { ownModes } from './own-modes.ts';
import { findMode } from './show.ts';
import { unsetVariable } from './unset-variable.ts';

export interface ModesAddInput {
  readonly name: string;
  readonly flags: ModeFlags;
  /** The mode whose settings are copied where none are given; null for the usual ones. */
  readonly like: string | null;
  /** Makes it the mode that is used when none is named. */
  readonly default: boolean;
}

export function registerModesAdd(parent: Command, run: Run): void {
  addModeOptions(parent.command('add').description('make a mode of a model').argument('<name>'))
    .option('--like <mode>', 'copy the settings that are not given from this mode')
    .option('--default', 'use it when no mode is named')
    .action((name: string, { default: isDefault, like, ...flags }: AddFlags, command: Command) =>
      run(command, (context) =>
        runModesAdd({ name, flags, like: like ?? null, default: isDefault ?? false }, context),
      ),
    );
}

interface AddFlags extends ModeFlags {
  readonly default?: true;
  readonly like?: string;
}

export async function runModesAdd(input: ModesAddInput, context: CliContext): Promise<undefined> {
  const { name } = input;
  const modes = await ownModes(context);
  const seen = await modes.read();
  const copied: Partial<ModeSettings> = input.like === null ? {} : findMode(input.like, seen);
  const usual = { ...defaultModeSettings, ...copied, name };
  const settings = await withFlags(usual, input.flags, context);
  if (settings.base_url === undefined || settings.model === undefined) {
    const missing = settings.base_url === undefined ? '--base-url URL' : '--model MODEL';
    throw new ParleyError('USAGE', `The mode ${beginning(name)} needs ${missing}.`, {
      hint: 'For Ollama: parley modes add local --base-url http://localhost:11434/v1 --model NAME (see: ollama list)',
    });
  }
  if (seen.list().some((mode) => mode.name === name)) {
    throw new ParleyError('USAGE', `There is a mode ${name} already.`, {
      hint: `Change it: parley modes set ${name} …, or choose another name.`,
    });
  }
  await underOptionNames(input.flags, () => modes.put(settings as ModeSettings, seen));
  if (input.default) await modes.setDefault(name);
  if (context.options.json) {
    await context.stdout.write(`${toJson({ success: true, data: settings })}\n`);
    return;
  }
  await context.say(`Added the mode ${name}. Try it: parley chat -m ${name} "Hello"`);
  await noteShared(context);
  await sayMissingKey(settings.key ?? null, context);
  if (isOllama(settings.base_url)) await sayOllamaWindow(settings.context_tokens, context);
}

/** Says who uses the modes of a store that machines share. */
export async function noteShared(context: CliContext): Promise<void> {
  if (context.target.store === null) return;
  await context.say(
    'All servers of this store use it within 3 s: each asks the model, and reads the key, from its own machine.',
  );
}

/** Warns that the variable of the key is not set. This is no failure, because the variable may be set later. */
export async function sayMissingKey(key: string | null, context: CliContext): Promise<void> {
  const name = unsetVariable(key, context.host.env);
  if (name !== null) await context.say(`${name} is not set yet.`);
}
