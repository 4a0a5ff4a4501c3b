// `parley setup`: finds model servers on this machine and vendors' keys in the environment, and creates modes for their models. It contacts a
// vendor only after the user has agreed.
import type { Command } from 'commander';
import { ParleyError } from '../../service/errors.ts';
import { defaultModeSettings, type ModeSettings } from '../../service/mode-settings.ts';
import type { FoundModels, ModelServer } from '../../service/model-server.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../counted.ts';
import { exitDone } from '../exit-codes.ts';
import type { Run } from '../run.ts';
import { chooseMany, chooseOne } from '../terminal/choice-prompt.ts';
import { toJson } from '../terminal/json.ts';
import { confirm } from '../terminal/prompt.ts';
import { startsInReasoning } from '../turn-notes.ts';
import { noteShared } from './modes/add.ts';
import { ownModes } from './modes/own-modes.ts';
import { trialTurn, withoutSession } from './modes/trial-turn.ts';
import { freeName } from './setup/mode-names.ts';
import {
  commandFor,
  isSameServer,
  localServers,
  variableOf,
  vendorsWithKeys,
} from './setup/model-servers.ts';
import { nothingFound } from './setup/nothing-found.ts';
import { warnAboutOllamaContext } from './setup/ollama-context.ts';

export interface SetupInput {
  /** Asks no questions: creates one mode for the first model of each server on this machine. */
  readonly yes: boolean;
}

export function registerSetup(parent: Command, run: Run): void {
  parent
    .command('setup')
    .description('find model servers and keys, and create modes for their models')
    .option('--yes', 'do not ask: use the first model of each server on this machine')
    .action(({ yes = false }: { yes?: boolean }, command: Command) =>
      run(command, (context) => runSetup({ yes }, context)),
    );
}

export async function runSetup({ yes }: SetupInput, context: CliContext): Promise<number> {
  const { prompting } = context;
  if (!yes && !prompting.allowed) {
    throw new ParleyError('USAGE', 'setup asks which models to use, but there is no terminal to ask in.', {
      hint: 'Use the first model of each server on this machine with --yes, or add one mode: parley modes add --help',
    });
  }
  const repository = await ownModes(context);
  await repository.read();
  await context.say('Looking for model servers on this machine…');
  const found = [...(await find(localServers(context), context))];
  const vendors = await vendorsWithKeys(context);
  const asked: ModelServer[] = [];
  const add = (more: readonly FoundModels[]) => {
    found.push(...more);
    asked.push(...more.map(({ server }) => server));
  };
  for (const vendor of vendors) add(await findAt(vendor, yes, context));
  await reportFound(found, asked, context);
  let offered = offersOf(found);
  if (offered.length === 0 && !yes) {
    const named = await findNamed(context);
    add(named);
    offered = offersOf(named);
  }
  if (offered.length === 0) throw nothingFound(found, vendors, asked);
  const chosen = yes
    ? offered.filter(({ server }, at) => offered.findIndex((one) => one.server === server) === at)
    : await chooseMany(
        'Which models should become modes?',
        offered.map((value) => ({
          name: `${value.model} (${value.server.name})`,
          value,
          checked: offered.length === 1,
        })),
        prompting,
      );
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
  const alternatives = (mode: string) => (yes ? alternativeOffers(offered, chosen[modes.indexOf(mode)]) : []);
  const [replied, reply] = await firstToReply(candidates, alternatives, before, context);
  const isDefault = chosenDefault ?? replied;
  if (isDefault !== before) await repository.setDefault(isDefault);
  await separateReasoning(replied, reply, context);
  if (context.options.json) {
    const data = { modes: [...new Set([...modes, replied])], default: isDefault, reply };
    await context.stdout.write(`${toJson({ success: true, data })}\n`);
  } else {
    await context.say(
      isDefault === replied
        ? `${replied} replied, and is now the default mode. Try: parley chat "Hello"`
        : `${replied} replied. Try: parley chat -m ${replied} "Hello". The default mode is still ${isDefault}; to change it: parley modes default ${replied}`,
    );
  }
  return exitDone;
}

/** How many models of a server are tried without asking. Loading each may take minutes. */
const maxTries = 3;

interface Offer {
  readonly server: ModelServer;
  readonly model: string;
}

function find(servers: readonly ModelServer[], context: CliContext): Promise<readonly FoundModels[]> {
  return context.host.findModels(servers, context.engineOptions, context.signal);
}

async function findAt(
  vendor: ModelServer,
  yes: boolean,
  context: CliContext,
): Promise<readonly FoundModels[]> {
  const variable = variableOf(vendor.key);
  if (yes) {
    await context.say(`${variable} is set. To use ${vendor.name}: ${commandFor(vendor)}`);
    return [];
  }
  const { host } = new URL(vendor.base_url);
  const question = `${variable} is set. Ask ${host} which models it has?`;
  return (await confirm(question, '--yes', context.prompting)) ? find([vendor], context) : [];
}

/** The models of a server that the user names. If the server does not list its models, the user names one. */
async function findNamed(context: CliContext): Promise<readonly FoundModels[]> {
  const { namedModel, namedServer } = await import('./setup/named-server.ts');
  const server = await namedServer(context);
  if (server === null) return [];
  const found = await find([server], context);
  await reportFound(found, [server], context);
  if (found.some(({ models }) => models.length > 0)) return found;
  const model = await namedModel(server, context);
  return found.map((silent) => ({ ...silent, models: model === null ? [] : [model] }));
}

function offersOf(found: readonly FoundModels[]): readonly Offer[] {
  return found.flatMap(({ server, models }) => models.filter(isForChat).map((model) => ({ server, model })));
}

/** Reports what was found. A server without an answer is reported only if the user agreed to contact it. */
async function reportFound(
  found: readonly FoundModels[],
  asked: readonly ModelServer[],
  context: CliContext,
): Promise<void> {
  for (const { server, models, problem: reported } of found) {
    const isSilent = reported === null && models.length === 0 && asked.includes(server);
    const problem = isSilent ? 'nothing is listening there' : reported;
    if (problem !== null && models.length === 0)
      await context.say(`${server.name} (${server.base_url}): ${problem}`);
    else if (models.length > 0) {
      const some = models.slice(0, 8).join(', ') + (models.length > 8 ? ', …' : '');
      await context.say(`${server.name} (${server.base_url}): ${counted(models.length, 'model')}: ${some}`);
    }
  }
}

/** Other models of the same server that may be tried instead. */
function alternativeOffers(offered: readonly Offer[], chosen: Offer | undefined): readonly Offer[] {
  const others = offered.filter((offer) => offer.server === chosen?.server && offer !== chosen);
  return others.slice(0, maxTries - 1);
}

/** Creates a mode for each offer and returns the names in the same order. An existing mode is reused. */
async function makeModes(offers: readonly Offer[], context: CliContext): Promise<readonly string[]> {
  const repository = await ownModes(context);
  const seen = await repository.read();
  const known = seen.list();
  const taken = new Set(known.map(({ name }) => name));
  const names: string[] = [];
  for (const { server, model } of offers) {
    const existing = known.find(
      ({ settings }) =>
        settings !== null && settings.model === model && isSameServer(settings.base_url, server.base_url),
    );
    const name = existing?.name ?? freeName(model, taken);
    names.push(name);
    if (existing !== undefined) continue;
    taken.add(name);
    const { base_url, key } = server;
    const settings: ModeSettings = {
      ...defaultModeSettings,
      name,
      base_url,
      key,
      model,
      description: `${model} at ${server.name}`,
    };
    await repository.put(settings, seen);
    await context.say(`Created mode ${name}: ${model} at ${server.name}.`);
    await noteShared(context);
  }
  return names;
}

/** `before` is the default that the user chose earlier. It may stay. */
async function chooseDefault(
  modes: readonly string[],
  before: string | null,
  { prompting }: CliContext,
): Promise<string | null> {
  // The prompt starts at the first name, so Enter alone changes nothing.
  const names = before === null ? modes : [before, ...modes.filter((name) => name !== before)];
  if (names.length === 1) return null;
  const choices = names.map((name) => ({
    name: name === before ? `${name} (current default)` : name,
    value: name,
  }));
  return chooseOne('Which one should be the default mode?', choices, prompting);
}

/** Adjusts the mode if the reply shows that the model's prompt template contains the opening tag of the reasoning. */
async function separateReasoning(mode: string, reply: string, context: CliContext): Promise<void> {
  if (!startsInReasoning(reply)) return;
  const repository = await ownModes(context);
  const seen = await repository.read();
  const settings = seen.list().find(({ name }) => name === mode)?.settings;
  if (settings?.think_tags !== 'split') return;
  await repository.put({ ...settings, think_tags: 'open' }, seen);
  await context.say(
    `${mode} writes its reasoning before its reply, so they will be separated (--think-tags open).`,
  );
}

/**
 * The first mode that replies, and its reply. For a model that fails, others of the same server are tried. Each failure is shown; the last one
 * is thrown.
 */
async function firstToReply(
  modes: readonly string[],
  alternatives: (mode: string) => readonly Offer[],
  before: string | null,
  context: CliContext,
): Promise<readonly [mode: string, reply: string]> {
  const attempts = modes.flatMap((mode) => [mode, ...alternatives(mode)]);
  let failure: ParleyError | null = null;
  for (const attempt of attempts) {
    if (failure !== null) await context.say(`${failure.message} (${failure.code})`);
    try {
      if (typeof attempt === 'string') return [attempt, await testTurn(attempt, context)];
      return await testOffer(attempt, context);
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof ParleyError)) throw error;
      failure = error;
    }
  }
  throw withoutSession(failure ?? new ParleyError('INTERNAL_ERROR', 'There was no mode to try.')).with({
    hint: `The modes are kept${before === null ? ', but none of them is the default' : `, and ${before} stays the default`}. When the server replies: parley setup, or parley modes default ${modes.at(-1)}`,
    remedy: null,
  });
}

/** Tests an offer. A mode that was created for the test stays only if it replies. */
async function testOffer(offer: Offer, context: CliContext): Promise<readonly [mode: string, reply: string]> {
  const repository = await ownModes(context);
  const known = (await repository.read()).list();
  const [mode = ''] = await makeModes([offer], context);
  try {
    return [mode, await testTurn(mode, context)];
  } catch (error) {
    if (!known.some(({ name }) => name === mode)) {
      await repository.remove(mode);
      await context.say(`Removed mode ${mode} again.`);
    }
    throw error;
  }
}

/** Tests the mode with its current settings. */
async function testTurn(mode: string, context: CliContext): Promise<string> {
  await context.closeBackend();
  return (await trialTurn(mode, context)).reply.reply;
}

/** False for models that are not made for chats, judging by their names. */
function isForChat(model: string): boolean {
  return !/embed|rerank|whisper|tts|transcri|moderation|dall-e|imagen|image|realtime|audio/i.test(model);
}
