// The options of `modes add` and `modes set`, which turn texts into the settings of a mode. The rules for the settings stand in src/config.
import { type Command, Option } from 'commander';
import { resolveKeyPath } from '../../../config/resolve-key-path.ts';
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
  const system = await readSystem(flags, signal);
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
      parameters: withParameters(base.parameters ?? {}, [...(flags.param ?? []), ...maxTokens(flags)]),
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

/** The longest reply is a parameter with an option of its own. */
function maxTokens({ maxTokens: most }: ModeFlags): readonly Parameter[] {
  return most === undefined ? [] : [['max_tokens', most === '' ? undefined : most]];
}
