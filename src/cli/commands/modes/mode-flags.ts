// The options of `modes add` and `modes set`, which turn texts into the settings of a mode. The rules for the settings stand in src/config.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { resolveKeyPath } from '../../../config/resolve-key-path.ts';
import { ParleyError } from '../../../service/errors.ts';
import { type JsonValue, type ModeSettings, thinkTagChoices } from '../../../service/mode-settings.ts';
import { readAtMost } from '../../../system/bounded-file.ts';
import type { CliContext } from '../../context.ts';
import { wholeNumber } from '../../whole-number.ts';

/** A setting is taken away. commander makes this of null, too. */
type Unset = '';

export interface ModeFlags {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly key?: string;
  readonly system?: string;
  readonly systemFile?: string;
  readonly temperature?: number | Unset;
  readonly maxTokens?: number | Unset;
  readonly param?: readonly (readonly [string, JsonValue])[];
  readonly context?: number | Unset;
  readonly fallback?: string;
  readonly description?: string;
  readonly firstToken?: number;
  readonly idle?: number;
  readonly showReasoning?: boolean;
  readonly thinkTags?: ModeSettings['think_tags'];
}

export function addModeOptions(command: Command): Command {
  return command
    .option('--base-url <url>', 'the server, as its documentation has it: http://localhost:11434/v1')
    .option('--model <model>', 'the model, as the server names it')
    .option('--key <where>', 'where its key is: env:NAME, file:PATH or command:LINE; "" for none')
    .option('--system <text>', 'the system prompt; "" for none')
    .option('--system-file <path>', 'the system prompt from a file')
    .option('--temperature <number>', 'the temperature; "" for the model’s own', numberOrNone)
    .option('--max-tokens <number>', 'the longest reply; "" for the model’s own', tokensOrNone)
    .option(
      '--param <name=json>',
      'another field of each request, top_p=0.9; name= takes it away; repeatable',
      parameters,
    )
    .option(
      '--context <tokens>',
      'the most tokens of a conversation to send, estimated; "" for what its server tells (default)',
      numberOrNone,
    )
    .option(
      '--fallback <mode>',
      'the mode to ask when this one fails before it has said anything; "" for none',
    )
    .option('--description <text>', 'what models shows of it')
    .option('--first-token <seconds>', 'the longest wait for the first token (default: 300)', aNumber)
    .option('--idle <seconds>', 'the longest silence in a reply (default: 60)', aNumber)
    .option('--show-reasoning', 'show the model’s notes to itself, too')
    .option('--no-show-reasoning', 'keep them back (default)')
    .addOption(
      new Option(
        '--think-tags <how>',
        'what becomes of <think> tags: split notes off (default), also where only </think> comes (open), or keep them',
      ).choices(thinkTagChoices),
    );
}

/** What the flags say of a mode, over what it was. */
export async function withFlags<Base extends Partial<ModeSettings>>(
  base: Base,
  flags: ModeFlags,
  { options: { insecureHttp }, host, target, signal }: CliContext,
): Promise<Base & Partial<ModeSettings>> {
  if (flags.system !== undefined && flags.systemFile !== undefined) {
    throw new ParleyError('USAGE', '--system and --system-file cannot be used together.');
  }
  const system = flags.systemFile === undefined ? flags.system : await readSystem(flags.systemFile, signal);
  // In a store that many machines share, the home directory is that of whoever reads the key.
  const home = target.store === null ? host.env['HOME'] : undefined;
  return {
    ...base,
    ...(flags.baseUrl !== undefined && { base_url: flags.baseUrl }),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.key !== undefined && { key: flags.key ? resolveKeyPath(flags.key, '.', home ?? null) : null }),
    ...(system !== undefined && { system: system || null }),
    ...(flags.temperature !== undefined && {
      temperature: flags.temperature === '' ? null : flags.temperature,
    }),
    ...((flags.param !== undefined || flags.maxTokens !== undefined) && {
      parameters: withParameters(base.parameters ?? {}, flags),
    }),
    ...(flags.context !== undefined && { context_tokens: flags.context === '' ? null : flags.context }),
    ...(flags.fallback !== undefined && { fallback: flags.fallback || null }),
    ...(flags.description !== undefined && { description: flags.description }),
    ...(flags.firstToken !== undefined && { first_token_seconds: flags.firstToken }),
    ...(flags.idle !== undefined && { idle_seconds: flags.idle }),
    ...(flags.showReasoning !== undefined && { show_reasoning: flags.showReasoning }),
    ...(flags.thinkTags !== undefined && { think_tags: flags.thinkTags }),
    ...(insecureHttp && { insecure_http: true }),
  };
}

function withParameters(before: ModeSettings['parameters'], flags: ModeFlags): ModeSettings['parameters'] {
  const named: readonly (readonly [string, JsonValue | undefined])[] = [
    ...(flags.param ?? []),
    ...(flags.maxTokens === undefined
      ? []
      : [['max_tokens', flags.maxTokens === '' ? undefined : flags.maxTokens] as const]),
  ];
  const changed = Object.fromEntries([...Object.entries(before), ...named]);
  return Object.fromEntries(
    Object.entries(changed).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The limit is larger than the context of any model. */
const mostSystemBytes = 8 * 1024 * 1024;

async function readSystem(path: string, signal: AbortSignal): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readAtMost(path, mostSystemBytes, signal));
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof TypeError ? 'it is not UTF-8' : (error as NodeJS.ErrnoException).code;
    throw new ParleyError('USAGE', `The file of --system-file, ${path}, cannot be read (${reason}).`);
  }
}

function aNumber(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(value)) return value;
  throw new InvalidArgumentError('Give a number.');
}

function numberOrNone(text: string): number | Unset {
  return text === '' ? '' : aNumber(text);
}

function tokensOrNone(text: string): number | Unset {
  return text === '' ? '' : wholeNumber(1)(text);
}

type Parameter = readonly [string, JsonValue | undefined];

/** A value that is not JSON is taken as a text, so `name=word` needs no quotes. */
function parameters(text: string, before: readonly Parameter[] = []): readonly Parameter[] {
  const [, name, value = ''] = /^([A-Za-z_][\w.-]*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Give NAME=VALUE, as in top_p=0.9.');
  return [...before, [name, value === '' ? undefined : parsed(value)]];
}

function parsed(value: string): JsonValue {
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}
