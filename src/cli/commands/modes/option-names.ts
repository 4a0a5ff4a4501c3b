// Names the option instead of the setting in an error about a mode: a user who types --context does not know context_tokens.
import { hasCode, type ParleyError } from '../../../service/errors.ts';
import type { ModeSettings } from '../../../service/mode-settings.ts';
import type { ModeFlags } from './mode-flags.ts';

const optionNames = {
  description: '--description',
  base_url: '--base-url',
  model: '--model',
  key: '--key',
  system: '--system',
  temperature: '--temperature',
  parameters: '--param',
  context_tokens: '--context',
  fallback: '--fallback',
  first_token_seconds: '--first-token',
  idle_seconds: '--idle',
  show_reasoning: '--show-reasoning',
  think_tags: '--think-tags',
  insecure_http: '--insecure-http',
} as const satisfies Partial<Record<keyof ModeSettings, string>>;

/** Runs `store`, which stores the mode. An error about a setting names its option. Other errors stay unchanged. */
export async function withOptionNames(flags: ModeFlags, store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (error) {
    throw hasCode(error, 'USAGE') ? withOptionName(error, flags) : error;
  }
}

function withOptionName(error: ParleyError, flags: ModeFlags): ParleyError {
  const { details } = error;
  const [{ field, problem } = { field: '', problem: '' }] = details;
  // A fallback is checked against all modes, so its field is modes.NAME.fallback.
  const [name = '', ...inner] = field.replace(/^modes\..+\.(?=fallback$)/s, '').split('.');
  if (!Object.hasOwn(optionNames, name)) return error;
  const option = [optionOf(name as keyof typeof optionNames, flags), ...inner].join(' ');
  return error.with({
    message: `${option} ${problem}.`,
    hint: error.hint.replace('context_tokens', '--context TOKENS'),
  });
}

function optionOf(field: keyof typeof optionNames, { system, systemFile }: ModeFlags): string {
  if (field !== 'system' || system !== undefined) return optionNames[field];
  return systemFile === undefined ? 'The system prompt' : '--system-file';
}
