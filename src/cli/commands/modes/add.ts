// `parley modes add`: adds a mode for a model.
import type { Command } from 'commander';
import { keyFileProblem } from '../../../config/key-reference.ts';
import { ParleyError } from '../../../service/errors.ts';
import { defaultModeSettings, type ModeSettings } from '../../../service/mode-settings.ts';
import { beginning } from '../../../service/quoted.ts';
import type { CliContext } from '../../context.ts';
import type { Run } from '../../run.ts';
import { successLine } from '../../terminal/json.ts';
import { isOllama, warnAboutOllamaContext } from '../setup/ollama-context.ts';
import { addModeOptions, type ModeFlags, withFlags } from './mode-flags.ts';
import { withOptionNames } from './option-names.ts';
import { ownModes } from './own-modes.ts';
import { findMode } from './show.ts';
import { unsetVariable } from './unset-variable.ts';

export function registerModesAdd(parent: Command, run: Run): void {
  addModeOptions(
    parent
      .command('add')
      .description('add a mode for a model; without --like it needs --base-url and --model')
      .argument('<name>', 'the name of the new mode, for chat -m'),
  )
    .option('--like <mode>', 'copy settings that are not set from this mode')
    .option('--default', 'make it the default mode')
    .action(run(runModesAdd));
}

interface AddFlags extends ModeFlags {
  /** Makes it the default mode. */
  readonly default?: true;
  /** The mode to copy missing settings from, instead of the defaults. */
  readonly like?: string;
}

export async function runModesAdd(
  name: string,
  { default: isDefault, like, ...flags }: AddFlags,
  context: CliContext,
): Promise<void> {
  if (context.options.url !== null && flags.baseUrl === undefined) {
    throw new ParleyError('USAGE', '--url names a server of sessions, not the server of a model.', {
      hint: 'The server of the model is --base-url URL.',
    });
  }
  const modes = await ownModes(context);
  const seen = await modes.read();
  const copied: Partial<ModeSettings> = like === undefined ? {} : findMode(like, seen);
  const base = { ...defaultModeSettings, ...copied };
  const settings = { ...(await withFlags(base, flags, context)), name };
  if (settings.base_url === undefined || settings.model === undefined) {
    const missing = settings.base_url === undefined ? '--base-url URL' : '--model MODEL';
    throw new ParleyError('USAGE', `The mode ${beginning(name)} needs ${missing}.`, {
      hint: 'For Ollama: --base-url http://localhost:11434/v1, and as --model a name that ollama list shows.',
    });
  }
  const existing = seen.list().find((mode) => mode.name === name);
  if (existing !== undefined) {
    const isBuiltIn = existing.settings === null && existing.problem === null;
    throw new ParleyError('USAGE', `There is already a mode ${name}.`, {
      hint: isBuiltIn
        ? 'It is built in and cannot be changed. Choose another name.'
        : `Change it with parley modes set ${name} …, or choose another name.`,
    });
  }
  await withOptionNames(flags, () => modes.put(settings as ModeSettings, seen));
  if (isDefault) await modes.setDefault(name);
  if (context.options.json) return context.stdout.write(successLine(settings));
  await context.say(`Added mode ${name}. Try it: parley chat -m ${name} "Hello"`);
  await noteShared(context);
  await warnAboutMissingKey(settings.key ?? null, context);
  if (isOllama(settings.base_url)) await warnAboutOllamaContext(settings.context_tokens, context);
}

/** Explains that other machines use the modes of a shared store, too. */
export async function noteShared(context: CliContext): Promise<void> {
  if (context.target.store === null) return;
  await context.say(
    'All servers of this store will use it within 3 s. Each contacts the model and reads the key on its own machine.',
  );
}

/** Warns if the variable or the file of the key is missing. This is not a failure, because the key may be put there later. */
export async function warnAboutMissingKey(key: string | null, context: CliContext): Promise<void> {
  const { env } = context.host;
  const name = unsetVariable(key, env);
  if (name !== null) await context.say(`Warning: the variable ${name} is not set yet.`);
  const problem = key === null ? null : keyFileProblem(key, env);
  if (problem !== null) await context.say(`Warning: ${problem}.`);
}
