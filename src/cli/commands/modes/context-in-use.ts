// How much of a conversation a mode sends, and whether the mode, the model's server or a default says so.
import { isLocalUrl } from '../../../config/base-url.ts';
import { defaultTokensHere, type ModeSettings } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';

export interface ContextInUse {
  /** Null for the whole conversation. */
  readonly tokens: number | null;
  /** `set` by the mode; reported by the model's `server`; or the default for a model `here` on this machine, or `elsewhere`. */
  readonly source: 'set' | 'server' | 'here' | 'elsewhere';
}

/** Asks the model's server only if it is on this machine. */
export async function contextInUse(settings: ModeSettings, context: CliContext): Promise<ContextInUse> {
  const { context_tokens: set, base_url } = settings;
  if (set !== null) return { tokens: set, source: 'set' };
  if (!isLocalUrl(base_url)) return { tokens: null, source: 'elsewhere' };
  const reported = await context.host.findContext(settings, context.engineOptions, context.signal);
  return reported === null
    ? { tokens: defaultTokensHere, source: 'here' }
    : { tokens: reported.tokens, source: 'server' };
}

export function contextText({ tokens, source }: ContextInUse): string {
  switch (source) {
    case 'set':
      return `${tokens}`;
    case 'server':
      return `${tokens} (reported by the model’s server)`;
    case 'here':
      return `${tokens} (default on this machine; the model’s server does not report a size)`;
    case 'elsewhere':
      return 'everything (default for other machines; a long conversation asks the model’s server)';
  }
}
