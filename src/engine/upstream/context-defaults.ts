// The default limits for the tokens of a conversation, for a mode without `context_tokens`.
import { isLoopback } from '../../http/loopback.ts';
import { defaultTokensHere, type ModeSettings } from '../../service/mode-settings.ts';

export interface ContextDefaults {
  /** A conversation up to this length is sent without asking the server for its limit. */
  readonly withoutAsking: number;
  /** The limit if the server does not report one. */
  readonly ifUnknown: number;
}

/** Programs on this machine give a model a small context, because a context takes memory. */
const onThisMachine: ContextDefaults = { withoutAsking: defaultTokensHere, ifUnknown: defaultTokensHere };
/** Few models elsewhere have a smaller context than `withoutAsking`. `ifUnknown` is no limit in practice. */
const elsewhere: ContextDefaults = { withoutAsking: 32_768, ifUnknown: 100_000_000 };

export function contextDefaults({ base_url, context_tokens }: ModeSettings): ContextDefaults {
  if (context_tokens !== null) return { withoutAsking: context_tokens, ifUnknown: context_tokens };
  return isLoopback(new URL(base_url).hostname) ? onThisMachine : elsewhere;
}
