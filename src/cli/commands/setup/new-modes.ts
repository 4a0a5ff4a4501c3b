// Makes modes of the models that `parley setup` found, and finds the first one that replies.
import { ParleyError } from '../../../service/errors.ts';
import { defaultModeSettings, type ModeSettings } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';
import { chooseOne } from '../../terminal/choice-prompt.ts';
import { startsInReasoning } from '../../turn-notes.ts';
import { noteShared } from '../modes/add.ts';
import { ownModes } from '../modes/own-modes.ts';
import { trialTurn, withoutSession } from '../modes/trial-turn.ts';
import type { Offer } from './model-search.ts';
import { isSameServer } from './model-servers.ts';

/** How many models of a server are tried without asking. Loading each may take minutes. */
const maxTries = 3;

/** Other models of the same server that may be tried instead. */
export function alternativeOffers(offers: readonly Offer[], chosen: Offer | undefined): readonly Offer[] {
  const others = offers.filter((offer) => offer.server === chosen?.server && offer !== chosen);
  return others.slice(0, maxTries - 1);
}

/** Creates a mode for each offer and returns the names in the same order. An existing mode is reused. */
export async function makeModes(offers: readonly Offer[], context: CliContext): Promise<readonly string[]> {
  const repository = await ownModes(context);
  const seen = await repository.read();
  const known = seen.list();
  const takenNames = new Set(known.map(({ name }) => name));
  const names: string[] = [];
  for (const { server, model } of offers) {
    const existing = known.find(
      ({ settings }) =>
        settings !== null && settings.model === model && isSameServer(settings.base_url, server.base_url),
    );
    const name = existing?.name ?? freeName(model, takenNames);
    names.push(name);
    if (existing !== undefined) {
      await context.say(`The mode ${name} already uses ${model} at ${server.name}, and stays unchanged.`);
      continue;
    }
    takenNames.add(name);
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
export async function chooseDefault(
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
export async function separateReasoning(mode: string, reply: string, context: CliContext): Promise<void> {
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
export async function firstToReply(
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

/** The name of the model without characters that are invalid in the name of a mode, with a number if the name is taken. */
function freeName(model: string, takenNames: ReadonlySet<string>): string {
  const last = model.split('/').at(-1) ?? '';
  const name = last
    .replace(/[^A-Za-z0-9._:-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|-+$/g, '')
    .slice(0, 50);
  const base = name === '' ? 'model' : name;
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? base : `${base}-${number}`;
    if (!takenNames.has(free)) return free;
  }
}
