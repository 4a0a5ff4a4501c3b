// The settings of a session from the command line: its system prompt and its parameters. A new session starts with them. An existing session
// has them from then on, and the change is reported once.
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

/** The settings on a command line. A null system prompt removes the present one; undefined keeps it. */
export interface GivenSettings {
  readonly system: string | null | undefined;
  readonly parameters: readonly Parameter[];
}

export const noGivenSettings: GivenSettings = { system: undefined, parameters: [] };

export function addSettingOptions(command: Command): Command {
  return command
    .option('--system <text>', 'system prompt of the session, added to that of its mode; "" for none')
    .option('--system-file <path>', 'read the system prompt from a file')
    .option(
      '--param <name=value>',
      'extra field of each request to the model, as in top_p=0.9; name= removes it; repeatable',
      parameters,
    )
    .option('--temperature <number>', 'the same as --param temperature=NUMBER; "" removes it', numberOrNone)
    .option('--max-tokens <number>', 'the same as --param max_tokens=NUMBER; "" removes it', tokensOrNone);
}

export function hasSettings({ system, systemFile, param, temperature, maxTokens }: SettingFlags): boolean {
  return [system, systemFile, param, temperature, maxTokens].some((flag) => flag !== undefined);
}

/** The settings of the flags, which override those of a template. */
export async function readSettings(
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

export function isEmpty(settings: GivenSettings): boolean {
  return settings.system === undefined && settings.parameters.length === 0;
}

/** The settings as fields of a request that creates a session. Settings that are not set have no field. */
export function initialSettings({ system, parameters: changes }: GivenSettings): Partial<SessionSettings> {
  const own = withParameters({}, changes);
  return {
    ...(system !== undefined && system !== null && { system }),
    ...(Object.keys(own).length > 0 && { parameters: own }),
  };
}

/** Merges two settings. The first ones win. */
export function mergeSettings(first: GivenSettings, second: GivenSettings): GivenSettings {
  return {
    system: first.system === undefined ? second.system : first.system,
    parameters: [...second.parameters, ...first.parameters],
  };
}

/**
 * Changes the settings of a session and reports it. Does nothing if the session has them already. Rejects with `UNSUPPORTED` if the server
 * stores no settings.
 */
export async function changeSettings(
  before: Session,
  settings: GivenSettings,
  context: Pick<CliContext, 'open' | 'call' | 'say'>,
): Promise<Session> {
  const changes = changesOf(before, settings);
  if (Object.keys(changes).length === 0) return before;
  const { backend } = await context.open();
  const { data } = await backend.archive.changeSession(await context.call(), before.session_id, changes);
  await context.say(`The session continues with ${describeChanges(changes)}.`);
  return data;
}

/** What to change in a session with these settings. Empty if there is nothing to change. */
export function changesOf(
  { system, parameters: before }: SessionSettings,
  settings: GivenSettings,
): SessionChanges {
  const own = withParameters(before, settings.parameters);
  return {
    ...(settings.system !== undefined && settings.system !== system && { system: settings.system }),
    ...(settings.parameters.length > 0 && toJson(own) !== toJson(before) && { parameters: own }),
  };
}

function describeChanges({ system, parameters: own }: SessionChanges): string {
  const words: string[] = [];
  if (system !== undefined)
    words.push(system === null ? 'no system prompt of its own' : 'this system prompt');
  if (own !== undefined) {
    const list = parameterList(own);
    words.push(list === '' ? 'no parameters of its own' : `the parameters ${list}`);
  }
  return words.join(' and ');
}

export function parameterList(own: SessionSettings['parameters']): string {
  return Object.entries(own)
    .map(([name, value]) => `${name}=${toJson(value)}`)
    .join(' ');
}
