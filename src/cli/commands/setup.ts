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
import { freeName } from './setup/mode-names.ts';
import { commandFor, localServers, variableOf, vendorsWithKeys } from './setup/model-servers.ts';

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
  const { home } = await context.open();
  await home.administration.listModes();
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
  const before = await home.administration.chosenDefault();
  // What somebody chose is changed by a choice alone.
  const chosenDefault = yes ? before : await chooseDefault(modes, before, context);
  const first = modes.filter((name) => name === chosenDefault);
  const others = yes || first.length === 0 ? modes.filter((name) => name !== chosenDefault) : [];
  const [replied, reply] = await firstToReply([...first, ...others], before, context);
  const isDefault = chosenDefault ?? replied;
  if (isDefault !== before) await home.administration.setDefaultMode(isDefault);
  await readInsideOfNotes(replied, reply, context);
  if (context.options.json) {
    const data = { modes, default: isDefault, reply };
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

interface Offer {
  readonly server: ModelServer;
  readonly model: string;
}

async function find(servers: readonly ModelServer[], context: CliContext): Promise<readonly FoundModels[]> {
  const { home } = await context.open();
  return home.administration.findModels(servers, context.host.signal);
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

/** The names of the modes, in the order of the offers. One that there is already is taken as it is. */
async function makeModes(offers: readonly Offer[], context: CliContext): Promise<readonly string[]> {
  const { home } = await context.open();
  const known = await home.administration.listModes();
  const taken = new Set(known.map(({ name }) => name));
  const names: string[] = [];
  for (const { server, model } of offers) {
    const there = known.find(
      ({ settings }) => settings?.base_url === server.base_url && settings.model === model,
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
    await home.administration.putMode(settings);
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
  const { administration } = (await context.open()).home;
  const settings = (await administration.listModes()).find(({ name }) => name === mode)?.settings;
  if (settings?.think_tags !== 'split') return;
  await administration.putMode({ ...settings, think_tags: 'open' });
  await context.say(
    `${mode} writes its notes in front of its reply: they are kept apart (--think-tags open).`,
  );
}

/** Which of the modes replies, and what. One that does not is told of; the failure of the last is thrown. */
async function firstToReply(
  modes: readonly string[],
  before: string | null,
  context: CliContext,
): Promise<readonly [mode: string, reply: string]> {
  const [mode = '', ...others] = modes;
  try {
    return [mode, await testTurn(mode, context)];
  } catch (error) {
    context.host.signal.throwIfAborted();
    if (!(error instanceof ParleyError)) throw error;
    if (others.length > 0) {
      await context.say(`${error.message} (${error.code})`);
      return firstToReply(others, before, context);
    }
    // The session of its question is deleted: what an error says of the place of the message does not hold here.
    throw new ParleyError(error.code, error.message, {
      hint: `The modes are kept, and ${before ?? 'none of them'} is used when no mode is named. When its server replies: parley setup, or parley modes default ${mode}`,
      cause: error,
    });
  }
}

/** One real turn; its session is deleted again. */
async function testTurn(mode: string, context: CliContext): Promise<string> {
  const { home } = await context.open();
  const call = await context.call();
  await context.say(`Asking ${mode} one question, to see that it replies…`);
  let session: string | null = null;
  try {
    const request = { mode, message: 'Say hello in one short sentence.', session_id: null };
    for await (const event of home.service.chat(call, request, 'pieces')) {
      if (event.event === 'session') session = event.data.session_id;
      if (event.event === 'done') return event.data.reply;
    }
    throw new ParleyError('INCOMPLETE_REPLY', `The mode ${mode} did not finish its reply.`);
  } finally {
    if (session !== null)
      await home.service.deleteSession({ ...call, signal: new AbortController().signal }, session);
  }
}

/** What is for other things than talking says so in its name. */
function isForChat(model: string): boolean {
  return !/embed|rerank|whisper|tts|transcri|moderation|dall-e|imagen|image|realtime|audio/i.test(model);
}

function nothingFound(found: readonly FoundModels[], vendors: readonly ModelServer[]): ParleyError {
  const keys = vendors.length === 0 ? ', and no key of a vendor is set' : '';
  const message = `No model was found on this machine${keys}.`;
  if (found.some(({ server, problem }) => server.name === 'Ollama' && problem !== null)) {
    return new ParleyError('NOT_FOUND', message, {
      hint: 'Ollama is there. Give it one: ollama pull qwen3:4b, and then: parley setup',
    });
  }
  return new ParleyError('NOT_FOUND', message, {
    hint: [
      'The shortest way to one:',
      '  1. Install Ollama: https://ollama.com/download',
      '  2. ollama pull qwen3:4b',
      '  3. parley setup',
    ].join('\n'),
  });
}
