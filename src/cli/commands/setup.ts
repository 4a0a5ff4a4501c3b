// `parley setup`: finds model servers on this machine and vendors' keys in the environment, and makes modes of their models. Without
// consent it contacts this machine only; a vendor is contacted after the user says yes.
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
import { sayShared } from './modes/add.ts';
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
import { sayOllamaWindow } from './setup/ollama-window.ts';

export interface SetupInput {
  /** Asks no questions: makes one mode of the first model of each server on this machine. */
  readonly yes: boolean;
}

export function registerSetup(parent: Command, run: Run): void {
  parent
    .command('setup')
    .description('find model servers and keys, and make modes of them')
    .option('--yes', 'ask nothing: take the first model of each server on this machine')
    .action(({ yes = false }: { yes?: boolean }, command: Command) =>
      run(command, (context) => runSetup({ yes }, context)),
    );
}

export async function runSetup({ yes }: SetupInput, context: CliContext): Promise<number> {
  const { prompting } = context;
  if (!yes && !prompting.allowed) {
    throw new ParleyError('USAGE', 'Which models are to become modes? Nobody can be asked here.', {
      hint: 'Take the first of each server on this machine with --yes, or name one: parley modes add --help',
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
  await tellFound(found, asked, context);
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
        'Which become modes?',
        offered.map((value) => ({
          name: `${value.model} (${value.server.name})`,
          value,
          checked: offered.length === 1,
        })),
        prompting,
      );
  if (chosen.length === 0) {
    await context.say('No mode was made. Nothing was ticked: Space ticks, Enter goes on.');
    return exitDone;
  }
  const modes = await makeModes(chosen, context);
  const ollama = chosen.find(({ server }) => server.name === 'Ollama');
  if (ollama !== undefined) await sayOllamaWindow(null, context);
  const before = (await repository.read()).chosenDefault;
  // A default that the user chose earlier changes only by another choice.
  const chosenDefault = yes ? before : await chooseDefault(modes, before, context);
  const first = modes.filter((name) => name === chosenDefault);
  const others = yes || first.length === 0 ? modes.filter((name) => name !== chosenDefault) : [];
  const inTurn = [...first, ...others];
  const further = (mode: string) => (yes ? furtherOffers(offered, chosen[modes.indexOf(mode)]) : []);
  const [replied, reply] = await firstToReply(inTurn, further, before, context);
  const isDefault = chosenDefault ?? replied;
  if (isDefault !== before) await repository.setDefault(isDefault);
  await separateNotes(replied, reply, context);
  if (context.options.json) {
    const data = { modes: [...new Set([...modes, replied])], default: isDefault, reply };
    await context.stdout.write(`${toJson({ success: true, data })}\n`);
  } else {
    await context.say(
      isDefault === replied
        ? `${replied} replied, and is used when no mode is named. Try: parley chat "Hello"`
        : `${replied} replied. Try: parley chat -m ${replied} "Hello". ${isDefault} is still used when no mode is named; to change that: parley modes default ${replied}`,
    );
  }
  return exitDone;
}

/** How many models of a server are tried without a question. Loading each may take minutes. */
const mostTries = 3;

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

/** The models of a server that the person names. A server may not list its models; the person then names one. */
async function findNamed(context: CliContext): Promise<readonly FoundModels[]> {
  const { namedModel, namedServer } = await import('./setup/named-server.ts');
  const server = await namedServer(context);
  if (server === null) return [];
  const found = await find([server], context);
  await tellFound(found, [server], context);
  if (found.some(({ models }) => models.length > 0)) return found;
  const model = await namedModel(server, context);
  return found.map((none) => ({ ...none, models: model === null ? [] : [model] }));
}

function offersOf(found: readonly FoundModels[]): readonly Offer[] {
  return found.flatMap(({ server, models }) => models.filter(isForChat).map((model) => ({ server, model })));
}

/** Nothing at a usual port of this machine is no news. A server that was `asked` for must be told of. */
async function tellFound(
  found: readonly FoundModels[],
  asked: readonly ModelServer[],
  context: CliContext,
): Promise<void> {
  for (const { server, models, problem: said } of found) {
    const isSilent = said === null && models.length === 0 && asked.includes(server);
    const problem = isSilent ? 'nothing listens there' : said;
    if (problem !== null && models.length === 0)
      await context.say(`${server.name} (${server.base_url}): ${problem}`);
    else if (models.length > 0) {
      const some = models.slice(0, 8).join(', ') + (models.length > 8 ? ', …' : '');
      await context.say(`${server.name} (${server.base_url}): ${counted(models.length, 'model')}: ${some}`);
    }
  }
}

/** The other models of the chosen server, as many as may be tried in its place. */
function furtherOffers(offered: readonly Offer[], taken: Offer | undefined): readonly Offer[] {
  const same = offered.filter((offer) => offer.server === taken?.server && offer !== taken);
  return same.slice(0, mostTries - 1);
}

/** Makes a mode of each offer and returns the names in the same order. An existing mode is reused. */
async function makeModes(offers: readonly Offer[], context: CliContext): Promise<readonly string[]> {
  const repository = await ownModes(context);
  const seen = await repository.read();
  const known = seen.list();
  const taken = new Set(known.map(({ name }) => name));
  const names: string[] = [];
  for (const { server, model } of offers) {
    const there = known.find(
      ({ settings }) =>
        settings !== null && settings.model === model && isSameServer(settings.base_url, server.base_url),
    );
    const name = there?.name ?? freeName(model, taken);
    names.push(name);
    if (there !== undefined) continue;
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
    await context.say(`Made the mode ${name}: ${model} at ${server.name}.`);
    await sayShared(context);
  }
  return names;
}

/** `before`: the default that the user chose earlier, which may stay. */
async function chooseDefault(
  modes: readonly string[],
  before: string | null,
  { prompting }: CliContext,
): Promise<string | null> {
  // The prompt starts at the first name, so Enter alone changes nothing.
  const names = before === null ? modes : [before, ...modes.filter((name) => name !== before)];
  if (names.length === 1) return null;
  const choices = names.map((name) => ({ name: name === before ? `${name} (as now)` : name, value: name }));
  return chooseOne('Which one is used when no mode is named?', choices, prompting);
}

/** Adjusts the mode of a model whose reply shows that its template opens the reasoning itself. */
async function separateNotes(mode: string, reply: string, context: CliContext): Promise<void> {
  if (!startsInReasoning(reply)) return;
  const repository = await ownModes(context);
  const seen = await repository.read();
  const settings = seen.list().find(({ name }) => name === mode)?.settings;
  if (settings?.think_tags !== 'split') return;
  await repository.put({ ...settings, think_tags: 'open' }, seen);
  await context.say(
    `${mode} writes its notes in front of its reply: they are kept apart (--think-tags open).`,
  );
}

/**
 * The first mode that replies, with its reply. A failing model is replaced by another one of the same server. Each failure is shown; the
 * last one is thrown.
 */
async function firstToReply(
  modes: readonly string[],
  further: (mode: string) => readonly Offer[],
  before: string | null,
  context: CliContext,
): Promise<readonly [mode: string, reply: string]> {
  const attempts = modes.flatMap((mode) => [mode, ...further(mode)]);
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
    hint: `The modes are kept, and ${before ?? 'none of them'} is used when no mode is named. When its server replies: parley setup, or parley modes default ${modes.at(-1)}`,
    remedy: null,
  });
}

/** Tests the mode of an offer. A mode that was made for the test stays only if it replies. */
async function testOffer(offer: Offer, context: CliContext): Promise<readonly [mode: string, reply: string]> {
  const repository = await ownModes(context);
  const known = (await repository.read()).list();
  const [mode = ''] = await makeModes([offer], context);
  try {
    return [mode, await testTurn(mode, context)];
  } catch (error) {
    if (!known.some(({ name }) => name === mode)) {
      await repository.remove(mode);
      await context.say(`Took the mode ${mode} away again.`);
    }
    throw error;
  }
}

/** Asks the mode with the current settings. */
async function testTurn(mode: string, context: CliContext): Promise<string> {
  await context.closeBackend();
  return (await trialTurn(mode, context)).reply.reply;
}

/** False for models that are not made for chats, by the words in their names. */
function isForChat(model: string): boolean {
  return !/embed|rerank|whisper|tts|transcri|moderation|dall-e|imagen|image|realtime|audio/i.test(model);
}
