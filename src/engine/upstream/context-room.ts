// How many tokens of a conversation are sent where the mode does not say it, and where its server does not tell it either.
import { isLoopback } from '../../http/loopback.ts';
import { type ModeSettings, usualTokensHere } from '../../service/mode-settings.ts';

export interface ContextRoom {
  /** A conversation up to this length is sent without a question to the server. */
  readonly unasked: number;
  /** Where the server tells nothing. */
  readonly untold: number;
}

/** The programs on one's own machine give a model little room, because it takes memory. */
const here: ContextRoom = { unasked: usualTokensHere, untold: usualTokensHere };
/** Everything, in effect. Few models elsewhere have less room than what is sent unasked. */
const elsewhere: ContextRoom = { unasked: 32_768, untold: 100_000_000 };

export function contextRoom({ base_url, context_tokens }: ModeSettings): ContextRoom {
  if (context_tokens !== null) return { unasked: context_tokens, untold: context_tokens };
  return isLoopback(new URL(base_url).hostname) ? here : elsewhere;
}
