// The settings of a session from the command line: its system prompt and its parameters. A new session begins with them; one that exists
// has them from then on, which is said once.
import type { Command } from 'commander';
import type { Session, SessionSettings } from '../service/session.ts';
import type { SessionChanges } from '../service/session-archive.ts';
import type { CliContext } from './context.ts';
import {
  numberOrNone,
  type Parameter,
  parameters,
  readSystem,
  type SystemFlags,
  tokensOrNone,
  type Unset,
  withParameters,
} from './model-options.ts';
import { toJson } from './terminal/json.ts';

export interface SettingFlags extends SystemFlags {
  readonly param?: readonly Parameter[];
  readonly temperature?: number | Unset;
  readonly maxTokens?: number | Unset;
}

/** What is given of the settings. Null removes the system prompt; undefined leaves it. */
export interface GivenSettings {
  readonly system: string | null | undefined;
  readonly parameters: readonly Parameter[];
}

export const nothingGiven: GivenSettings = { system: undefined, parameters: [] };

export function addSettingOptions(command: Command): Command {
  return command
    .option('--system <text>', 'system prompt of the session, after that of its mode; "" for none')
    .option('--system-file <path>', 'the same from a file')
    .option(
      '--param <name=value>',
      'field of each request to the model, top_p=0.9; name= takes it away; repeatable',
      parameters,
    )
    .option(
      '--temperature <number>',
      'the same as --param temperature=NUMBER; "" takes it away',
      numberOrNone,
    )
    .option('--max-tokens <number>', 'the same as --param max_tokens=NUMBER; "" takes it away', tokensOrNone);
}

export function hasSettings({ system, systemFile, param, temperature, maxTokens }: SettingFlags): boolean {
  return [system, systemFile, param, temperature, maxTokens].some((given) => given !== undefined);
}

/** The settings of the flags, over those of a template. */
export async function givenSettings(
  flags: SettingFlags,
  template: SessionSettings | null,
  signal: AbortSignal,
): Promise<GivenSettings> {
  const system = await readSystem(flags, signal);
  const { temperature, maxTokens } = flags;
  return {
    system: system === undefined ? (template?.system ?? undefined) : system || null,
    parameters: [
      ...(Object.entries(template?.parameters ?? {}) as Parameter[]),
      ...(flags.param ?? []),
      ...(temperature === undefined
        ? []
        : [['temperature', temperature === '' ? undefined : temperature] as const]),
      ...(maxTokens === undefined ? [] : [['max_tokens', maxTokens === '' ? undefined : maxTokens] as const]),
    ],
  };
}

export function isNothing({ system, parameters: given }: GivenSettings): boolean {
  return system === undefined && given.length === 0;
}

/** The fields of a request that makes a session. A request without settings has none of them. */
export function settingsOfNew({ system, parameters: given }: GivenSettings): Partial<SessionSettings> {
  const own = withParameters({}, given);
  return {
    ...(system !== undefined && system !== null && { system }),
    ...(Object.keys(own).length > 0 && { parameters: own }),
  };
}

/** What both give, the first one where they give the same. */
export function settingsOver(first: GivenSettings, second: GivenSettings): GivenSettings {
  return {
    system: first.system === undefined ? second.system : first.system,
    parameters: [...second.parameters, ...first.parameters],
  };
}

/**
 * Gives a session these settings from now on, and says so. Nothing happens if it has them already. Rejects with `UNSUPPORTED` if the server
 * keeps no settings.
 */
export async function changeSettings(
  before: Session,
  given: GivenSettings,
  context: Pick<CliContext, 'open' | 'call' | 'say'>,
): Promise<Session> {
  const changes = changesOf(before, given);
  if (Object.keys(changes).length === 0) return before;
  const { backend } = await context.open();
  const { data } = await backend.archive.changeSession(await context.call(), before.session_id, changes);
  await context.say(`The session goes on with ${wordsOf(changes)}.`);
  return data;
}

/** What is to change in a session that has these settings. Empty if nothing is. */
export function changesOf(
  { system, parameters: before }: SessionSettings,
  given: GivenSettings,
): SessionChanges {
  const own = withParameters(before, given.parameters);
  return {
    ...(given.system !== undefined && given.system !== system && { system: given.system }),
    ...(given.parameters.length > 0 && toJson(own) !== toJson(before) && { parameters: own }),
  };
}

function wordsOf({ system, parameters: own }: SessionChanges): string {
  const words: string[] = [];
  if (system !== undefined)
    words.push(system === null ? 'no system prompt of its own' : 'this system prompt');
  if (own !== undefined) words.push(parameterWords(own));
  return words.join(' and ');
}

export function parameterWords(own: SessionSettings['parameters']): string {
  const words = Object.entries(own).map(([name, value]) => `${name}=${toJson(value)}`);
  return words.length === 0 ? 'no parameters of its own' : `the parameters ${words.join(' ')}`;
}
