// `parley setup`: finds model servers on this machine, and keys of vendors in the environment, and makes modes of their models. It asks
// this machine alone; a vendor is asked only after a yes.
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
import { beginsInNotes } from '../turn-notes.ts';
import { ownModes } from './modes/own-modes.ts';
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
  /** Ask nothing: a mode of the first model of each server on this machine. */
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
  const repository = ownModes(context);
  repository.list();
  await context.say('Looking for model servers on this machine…');
  const found = [...(await find(localServers(context), context))];
  const vendors = await vendorsWithKeys(context);
  for (const vendor of vendors) found.push(...(await findAt(vendor, yes, context)));
  await tellFound(found, context);
  const offered = found.flatMap(({ server, models }) =>
    models.filter(isForChat).map((model) => ({ server, model })),
  );
  if (offered.length === 0) throw nothingFound(found, vendors);
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
  if (ollama !== undefined) await sayOllamaWindow(defaultModeSettings.context_tokens, context);
  const before = repository.chosenDefault();
  // What somebody chose is changed by a choice alone.
  const chosenDefault = yes ? before : await chooseDefault(modes, before, context);
  const first = modes.filter((name) => name === chosenDefault);
  const others = yes || first.length === 0 ? modes.filter((name) => name !== chosenDefault) : [];
  const inTurn = [...first, ...others];
  const further = (mode: string) => (yes ? furtherOffers(offered, chosen[modes.indexOf(mode)]) : []);
  const [replied, reply] = await firstToReply(inTurn, further, before, context);
  const isDefault = chosenDefault ?? replied;
  if (isDefault !== before) await repository.setDefault(isDefault);
  await readInsideOfNotes(replied, reply, context);
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

/** Models of one server, where nobody is asked: each may be loaded for minutes. */
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

async function tellFound(found: readonly FoundModels[], context: CliContext): Promise<void> {
  for (const { server, models, problem } of found) {
    if (problem !== null) await context.say(`${server.name} (${server.base_url}): ${problem}`);
    else if (models.length > 0) {
      const some = models.slice(0, 8).join(', ') + (models.length > 8 ? ', …' : '');
      await context.say(`${server.name} (${server.base_url}): ${counted(models.length, 'model')}: ${some}`);
    }
  }
}

/** What else a server has than what it was taken for: as much as is tried in its place. */
function furtherOffers(offered: readonly Offer[], taken: Offer | undefined): readonly Offer[] {
  const same = offered.filter((offer) => offer.server === taken?.server && offer !== taken);
  return same.slice(0, mostTries - 1);
}

/** The names of the modes, in the order of the offers. One that there is already is taken as it is. */
async function makeModes(offers: readonly Offer[], context: CliContext): Promise<readonly string[]> {
  const repository = ownModes(context);
  const known = repository.list();
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
    await repository.put(settings);
    await context.say(`Made the mode ${name}: ${model} at ${server.name}.`);
  }
  return names;
}

/** `before`: the one that was chosen earlier, which can stay. */
async function chooseDefault(
  modes: readonly string[],
  before: string | null,
  { prompting }: CliContext,
): Promise<string | null> {
  // The list stands on its first: Enter alone changes nothing.
  const names = before === null ? modes : [before, ...modes.filter((name) => name !== before)];
  if (names.length === 1) return null;
  const choices = names.map((name) => ({ name: name === before ? `${name} (as now)` : name, value: name }));
  return chooseOne('Which one is used when no mode is named?', choices, prompting);
}

/** A model whose reply shows that its template opens its notes gets a mode that knows. */
async function readInsideOfNotes(mode: string, reply: string, context: CliContext): Promise<void> {
  if (!beginsInNotes(reply)) return;
  const repository = ownModes(context);
  const settings = repository.list().find(({ name }) => name === mode)?.settings;
  if (settings?.think_tags !== 'split') return;
  await repository.put({ ...settings, think_tags: 'open' });
  await context.say(
    `${mode} writes its notes in front of its reply: they are kept apart (--think-tags open).`,
  );
}

/** Which of the modes replies, and what; in place of one that does not, a further model. Each failure is told; the last is thrown. */
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
  // The session of its question is deleted: what an error says of the place of the message does not hold here.
  throw (failure ?? new ParleyError('INTERNAL_ERROR', 'There was no mode to try.')).with({
    hint: `The modes are kept, and ${before ?? 'none of them'} is used when no mode is named. When its server replies: parley setup, or parley modes default ${modes.at(-1)}`,
    remedy: null,
    session_id: null,
    message_id: null,
  });
}

/** A mode that was made for this stays only if it replies. */
async function testOffer(offer: Offer, context: CliContext): Promise<readonly [mode: string, reply: string]> {
  const repository = ownModes(context);
  const known = repository.list();
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

/** One real turn, with the modes as they are by now; its session is deleted again. */
async function testTurn(mode: string, context: CliContext): Promise<string> {
  await context.close();
  const { backend } = await context.open();
  const call = await context.call();
  await context.say(`Asking ${mode} one question, to see that it replies…`);
  let session: string | null = null;
  try {
    const request = { mode, message: 'Say hello in one short sentence.', session_id: null };
    for await (const event of backend.service.chat(call, request, 'chunks')) {
      if (event.event === 'session') session = event.data.session_id;
      if (event.event === 'done') return event.data.reply;
    }
    throw new ParleyError('INCOMPLETE_REPLY', `The mode ${mode} did not finish its reply.`);
  } finally {
    if (session !== null)
      await backend.service.deleteSession({ ...call, signal: new AbortController().signal }, session);
  }
}

/** What is for other things than talking says so in its name. */
function isForChat(model: string): boolean {
  return !/embed|rerank|whisper|tts|transcri|moderation|dall-e|imagen|image|realtime|audio/i.test(model);
}
