// The options of `modes add` and `modes set`, as settings of a mode. src/config has the rules for the settings.
import { type Command, Option } from 'commander';
import { resolveKeyPath } from '../../../config/resolve-key-path.ts';
import { ParleyError } from '../../../service/errors.ts';
import { type ModeSettings, thinkTagChoices } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';
import {
  aNumber,
  numberOrNone,
  type Parameter,
  parameters,
  readSystem,
  tokensOrNone,
  type Unset,
  withParameters,
} from '../../model-options.ts';

export interface ModeFlags {
  readonly baseUrl?: string;
  readonly model?: string;
  readonly key?: string;
  readonly system?: string;
  readonly systemFile?: string;
  readonly temperature?: number | Unset;
  readonly maxTokens?: number | Unset;
  readonly param?: readonly Parameter[];
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
    .option('--base-url <url>', 'the base URL of the server, as in http://localhost:11434/v1')
    .option('--model <model>', 'the server’s name of the model')
    .option('--key <where>', 'where to read the key from: env:NAME, file:PATH or command:LINE; "" for none')
    .option('--system <text>', 'the system prompt; "" for none')
    .option('--system-file <path>', 'read the system prompt from a file')
    .option('--temperature <number>', 'the temperature; "" for the model’s default', numberOrNone)
    .option('--max-tokens <number>', 'the longest reply in tokens; "" for the model’s default', tokensOrNone)
    .option(
      '--param <name=json>',
      'extra field of each request, as in top_p=0.9; name= removes it; repeatable',
      parameters,
    )
    .option(
      '--context <tokens>',
      'the most tokens of a conversation to send, estimated; "" for what the server reports (default)',
      numberOrNone,
    )
    .option('--fallback <mode>', 'the mode to use when this one fails before its reply begins; "" for none')
    .option('--description <text>', 'the description that parley models shows')
    .option('--first-token <seconds>', 'the longest wait for the first token (default: 300)', aNumber)
    .option('--idle <seconds>', 'the longest silence in a reply (default: 60)', aNumber)
    .option('--show-reasoning', 'show the model’s reasoning')
    .option('--no-show-reasoning', 'hide the model’s reasoning (default)')
    .addOption(
      new Option(
        '--think-tags <how>',
        'how to treat <think> tags: split off the reasoning (default), also if only </think> appears (open), or keep the tags',
      ).choices(thinkTagChoices),
    );
}

/** The settings of a mode, changed by the flags. */
export async function withFlags<Base extends Partial<ModeSettings>>(
  base: Base,
  flags: ModeFlags,
  { options: { insecureHttp }, host, target, signal }: CliContext,
): Promise<Base & Partial<ModeSettings>> {
  const system = await readSystem(flags, signal);
  const isMoved = isOtherServer(base, flags);
  if (isMoved && base.key && flags.key === undefined) throw keyOfOtherServer(base);
  // In a shared store, `~` must stay: it is the home directory of the machine that reads the key.
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
      parameters: withParameters(base.parameters ?? {}, [...(flags.param ?? []), ...maxTokens(flags)]),
    }),
    ...(flags.context !== undefined && { context_tokens: flags.context === '' ? null : flags.context }),
    ...(flags.fallback !== undefined && { fallback: flags.fallback || null }),
    ...(flags.description !== undefined && { description: flags.description }),
    ...(flags.firstToken !== undefined && { first_token_seconds: flags.firstToken }),
    ...(flags.idle !== undefined && { idle_seconds: flags.idle }),
    ...(flags.showReasoning !== undefined && { show_reasoning: flags.showReasoning }),
    ...(flags.thinkTags !== undefined && { think_tags: flags.thinkTags }),
    ...((insecureHttp || isMoved) && { insecure_http: insecureHttp }),
  };
}

/** True if the flags name another server than the settings. The key and the permission for plain HTTP belong to the server. */
function isOtherServer({ base_url }: Partial<ModeSettings>, { baseUrl }: ModeFlags): boolean {
  return baseUrl !== undefined && base_url !== undefined && originOf(baseUrl) !== originOf(base_url);
}

/** The text itself if it is not a URL. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** Does not quote the reference, because the key of an invalid mode may be the key itself. */
function keyOfOtherServer({ name, base_url = '' }: Partial<ModeSettings>): ParleyError {
  const server = URL.canParse(base_url) ? new URL(base_url).origin : 'another server';
  return new ParleyError('USAGE', `The key of the mode ${name} is for ${server}.`, {
    hint: 'Name the key for the new server with --key, or --key "" for none.',
  });
}

/** `--max-tokens` is a parameter with its own option. */
function maxTokens({ maxTokens: limit }: ModeFlags): readonly Parameter[] {
  return limit === undefined ? [] : [['max_tokens', limit === '' ? undefined : limit]];
}
