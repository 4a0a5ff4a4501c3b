// `parley setup`: finds model servers on this machine and vendors' keys in the environment, and creates modes for their models. It contacts a
// vendor only after the user has agreed.
import type { Command } from 'commander';
import { ParleyError } from '../../service/errors.ts';
import type { CliContext } from '../context.ts';
import { exitDone } from '../exit-codes.ts';
import type { Run } from '../run.ts';
import { chooseMany } from '../terminal/choice-prompt.ts';
import { successLine } from '../terminal/json.ts';
import { ownModes } from './modes/own-modes.ts';
import { ModelSearch, type Offer } from './setup/model-search.ts';
import {
  alternativeOffers,
  chooseDefault,
  firstToReply,
  makeModes,
  separateReasoning,
} from './setup/new-modes.ts';
import { warnAboutOllamaContext } from './setup/ollama-context.ts';

interface SetupFlags {
  /** Asks no questions: creates one mode for the first model of each server on this machine. */
  readonly yes?: boolean;
}

export function registerSetup(parent: Command, run: Run): void {
  parent
    .command('setup')
    .description('find model servers and keys, and create modes for their models')
    .option('-y, --yes', 'do not ask: use the first model of each server on this machine')
    .action(run(runSetup));
}

export async function runSetup({ yes = false }: SetupFlags, context: CliContext): Promise<number> {
  const { prompting } = context;
  if (!yes && !prompting.allowed) {
    throw new ParleyError('USAGE', 'setup asks which models to use, but there is no terminal to ask in.', {
      hint: 'Use the first model of each server on this machine with --yes, or add one mode: parley modes add --help',
    });
  }
  const repository = await ownModes(context);
  await repository.read();
  await context.say('Looking for model servers on this machine…');
  const search = new ModelSearch(context);
  let offers = await search.run({ mayAsk: !yes });
  if (offers.length === 0 && !yes) offers = await search.askForServer();
  if (offers.length === 0) throw search.failure();
  const chosen = yes ? firstOfEachServer(offers) : await chooseOffers(offers, context);
  if (chosen.length === 0) {
    await context.say('No mode was created, because nothing was selected: Space selects, Enter confirms.');
    return exitDone;
  }
  const modes = await makeModes(chosen, context);
  const ollama = chosen.find(({ server }) => server.name === 'Ollama');
  if (ollama !== undefined) await warnAboutOllamaContext(null, context);
  const before = (await repository.read()).chosenDefault;
  // A default that the user chose earlier changes only by another choice.
  const chosenDefault = yes ? before : await chooseDefault(modes, before, context);
  const first = modes.filter((name) => name === chosenDefault);
  const others = yes || first.length === 0 ? modes.filter((name) => name !== chosenDefault) : [];
  const candidates = [...first, ...others];
  const alternatives = (name: string) => (yes ? alternativeOffers(offers, chosen[modes.indexOf(name)]) : []);
  const [mode, reply] = await firstToReply(candidates, alternatives, before, context);
  const defaultMode = chosenDefault ?? mode;
  if (defaultMode !== before) await repository.setDefault(defaultMode);
  await separateReasoning(mode, reply, context);
  if (context.options.json) {
    const data = { modes: [...new Set([...modes, mode])], default: defaultMode, reply };
    await context.stdout.write(successLine(data));
  } else {
    await context.say(
      defaultMode === mode
        ? `${mode} replied, and is now the default mode. Try: parley chat "Hello"`
        : `${mode} replied. Try: parley chat -m ${mode} "Hello". The default mode is still ${defaultMode}; to change it: parley modes default ${mode}`,
    );
  }
  return exitDone;
}

function firstOfEachServer(offers: readonly Offer[]): readonly Offer[] {
  return offers.filter(({ server }, at) => offers.findIndex((one) => one.server === server) === at);
}

function chooseOffers(offers: readonly Offer[], { prompting }: CliContext): Promise<readonly Offer[]> {
  const choices = offers.map((value) => ({
    name: `${value.model} (${value.server.name})`,
    value,
    checked: offers.length === 1,
  }));
  return chooseMany('Which models should become modes?', choices, prompting);
}
