// The engine of a mode whose model is behind an OpenAI-compatible server. The code for the connection is loaded at the first reply.
import { isLoopback } from '../../http/loopback.ts';
import { defaultTokensHere, type ModeSettings } from '../../service/mode-settings.ts';
import { estimateTokens, messageTokens } from '../../service/token-estimate.ts';
import type { EngineContext, EngineEvent, ReplyEngine } from '../reply-engine.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { UpstreamOptions } from './upstream-options.ts';

/** How long a server that reported no limit is not asked again, in ms. */
const askAgainMs = 60_000;

export class UpstreamEngine implements ReplyEngine {
  readonly name: string;
  readonly historyMessages = Number.MAX_SAFE_INTEGER;
  readonly contextTokens: number;
  readonly learnContextTokens?: (signal: AbortSignal) => Promise<number>;
  readonly showsReasoning: boolean;
  readonly fallback: string | null;
  readonly #settings: ModeSettings;
  readonly #options: UpstreamOptions;
  #connection: Promise<UpstreamConnection> | null = null;
  /** The limit that the server reported; null while it has reported none. */
  #contextTokens: number | null = null;
  /** Epoch milliseconds. A server that reported no limit is asked again from this time on, because it may only have been starting. */
  #askAgainAt = 0;
  #running = 0;
  #isRetired = false;

  constructor(settings: ModeSettings, options: UpstreamOptions) {
    const { name, system, context_tokens, show_reasoning, fallback } = settings;
    this.name = name;
    const systemTokens = system === null ? 0 : messageTokens(estimateTokens(system));
    this.contextTokens = contextDefaults(settings).withoutAsking - systemTokens;
    if (context_tokens === null)
      this.learnContextTokens = async (signal) => (await this.#learn(signal)) - systemTokens;
    this.showsReasoning = show_reasoning;
    this.fallback = fallback;
    this.#settings = settings;
    this.#options = options;
  }

  async *reply(
    context: EngineContext,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<EngineEvent> {
    signal.throwIfAborted();
    this.#running += 1;
    try {
      this.#connection ??= this.#open();
      yield* (await this.#opened(this.#connection)).reply(context, signal);
    } finally {
      this.#running -= 1;
      if (this.#isRetired) await this.retire();
    }
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = null;
    // The error of a connection that failed to open was already reported to its caller.
    await (await connection?.catch(() => null))?.close();
  }

  /** Closes the connection as soon as no reply runs, now and after every later reply. */
  async retire(): Promise<void> {
    this.#isRetired = true;
    if (this.#running === 0) await this.close();
  }

  async #learn(signal: AbortSignal): Promise<number> {
    const { now } = this.#options;
    if (this.#contextTokens === null && now() >= this.#askAgainAt) {
      const { findContext } = await import('./context-finder.ts');
      const contextSize = await findContext(this.#settings, this.#options, signal);
      this.#contextTokens = contextSize?.tokens ?? null;
      this.#askAgainAt = now() + askAgainMs;
    }
    return this.#contextTokens ?? contextDefaults(this.#settings).ifUnknown;
  }

  /** Forgets a connection that failed to open, so that the next reply tries again. */
  async #opened(connection: Promise<UpstreamConnection>): Promise<UpstreamConnection> {
    try {
      return await connection;
    } catch (error) {
      if (this.#connection === connection) this.#connection = null;
      throw error;
    }
  }

  async #open(): Promise<UpstreamConnection> {
    const { UpstreamConnection: Connection } = await import('./upstream-connection.ts');
    return new Connection(this.#settings, this.#options, await this.#options.authorities());
  }
}

/** The limits for the tokens of a conversation. */
interface ContextDefaults {
  /** A conversation up to this length is sent without asking the server for its limit. */
  readonly withoutAsking: number;
  /** The limit if the server does not report one. */
  readonly ifUnknown: number;
}

/** Programs on this machine give a model a small context, because a context takes memory. */
const onThisMachine: ContextDefaults = { withoutAsking: defaultTokensHere, ifUnknown: defaultTokensHere };
/** Few models elsewhere have a smaller context than `withoutAsking`. `ifUnknown` is no limit in practice. */
const elsewhere: ContextDefaults = { withoutAsking: 32_768, ifUnknown: 100_000_000 };

function contextDefaults({ base_url, context_tokens }: ModeSettings): ContextDefaults {
  if (context_tokens !== null) return { withoutAsking: context_tokens, ifUnknown: context_tokens };
  return isLoopback(new URL(base_url).hostname) ? onThisMachine : elsewhere;
}
