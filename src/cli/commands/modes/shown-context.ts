// How much of a conversation a mode sends, and who says so: the mode, the model's server, or nobody.
import { isLocalUrl } from '../../../config/base-url.ts';
import { type ModeSettings, usualTokensHere } from '../../../service/mode-settings.ts';
import type { CliContext } from '../../context.ts';

export interface ShownContext {
  /** Null for everything. */
  readonly tokens: number | null;
  /** `set`: by the mode. `server`: told by the model's server. `here`, `elsewhere`: usual for a model on this machine, or elsewhere. */
  readonly source: 'set' | 'server' | 'here' | 'elsewhere';
}

/** Asks a server on this machine, and none elsewhere. */
export async function shownContext(settings: ModeSettings, context: CliContext): Promise<ShownContext> {
  const { context_tokens: set, base_url } = settings;
  if (set !== null) return { tokens: set, source: 'set' };
  if (!isLocalUrl(base_url)) return { tokens: null, source: 'elsewhere' };
  const told = await context.host.findContext(settings, context.engineOptions, context.signal);
  return told === null
    ? { tokens: usualTokensHere, source: 'here' }
    : { tokens: told.tokens, source: 'server' };
}

export function contextText({ tokens, source }: ShownContext): string {
  switch (source) {
    case 'set':
      return `${tokens}`;
    case 'server':
      return `${tokens} (as the model’s server tells)`;
    case 'here':
      return `${tokens} (usual on this machine; the model’s server tells no number)`;
    case 'elsewhere':
      return 'everything (usual elsewhere; in a long conversation the model’s server is asked)';
  }
}
