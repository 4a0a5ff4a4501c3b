// The contract of an engine, which answers messages. An engine keeps nothing between calls and sees only the given context.
import type { SessionSettings, Usage } from '../service/session.ts';

export interface ContextMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** True for a cut reply, whose received part is stored. */
  readonly cut: boolean;
}

/** The part of a conversation that an engine gets, and the settings of its session. Missing settings are empty. */
export interface EngineContext extends Partial<SessionSettings> {
  /** The earlier whole turns of the session, the oldest first, within `historyMessages` and `contextTokens`. */
  readonly history: readonly ContextMessage[];
  /** The message to answer. It begins with the earlier messages that got no reply, as paragraphs. */
  readonly message: string;
}

/** `text`: a chunk of the reply. `reasoning`: a chunk of the model's own notes. `finish`: the end; nothing follows it. */
export type EngineEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'finish'; readonly reason: 'stop' | 'length'; readonly usage: Usage | null };

export interface ReplyEngine {
  readonly name: string;
  /** How many of the newest messages of a session the engine reads; 0 for an engine that reads the message alone. */
  readonly historyMessages: number;
  /** The most estimated tokens of the session's system prompt, the history and the message together; missing for an engine that does not count tokens. */
  readonly contextTokens?: number;
  /**
   * True for an engine that ends its own silence with `ENGINE_TIMEOUT`, or never waits. The caller limits the silence of any other engine.
   */
  readonly timesItself?: boolean;
  /** True: a chat shows the `reasoning` of this engine even if the call does not ask for it. */
  readonly showsReasoning?: boolean;
  /** The mode to ask when this engine fails before the first chunk of its reply. */
  readonly fallback?: string | null;
  /**
   * Streams the reply. Rejects with a `ParleyError` (`ENGINE_FAILED`, `ENGINE_TIMEOUT`, `RATE_LIMITED`, `UNAVAILABLE`), or with the reason
   * of the signal after it has fired. An offline engine gives equal replies to equal contexts; other engines need not.
   */
  reply(context: EngineContext, options: { readonly signal: AbortSignal }): AsyncIterable<EngineEvent>;
}
