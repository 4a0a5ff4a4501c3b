// The contract of an engine, which replies to messages. An engine keeps no state between calls and sees only the given context.
import type { SessionSettings, Usage } from '../service/session.ts';

export interface ContextMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  /** True for a reply that was cut off. Its first part is stored. */
  readonly cut: boolean;
}

/** The part of a conversation that an engine receives, and the settings of its session. Missing settings are empty. */
export interface EngineContext extends Partial<SessionSettings> {
  /** The earlier complete turns of the session, the oldest first, within `historyMessages` and `contextTokens`. */
  readonly history: readonly ContextMessage[];
  /** The message to reply to. It begins with the earlier messages that got no reply, as paragraphs. */
  readonly message: string;
  /** The JSON Schema, as text, that the reply should match. An engine that does not support schemas ignores it. */
  readonly schema?: string | undefined;
}

/** `text`: a chunk of the reply. `reasoning`: a chunk of the model's own notes. `finish`: the end; nothing follows it. */
export type EngineEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'finish'; readonly reason: 'stop' | 'length'; readonly usage: Usage | null };

export interface ReplyEngine {
  readonly name: string;
  /** The number of earlier messages that the engine reads, the newest first. 0 for an engine that reads only the message. */
  readonly historyMessages: number;
  /**
   * The limit for the session's system prompt, the history and the message together, in estimated tokens. Missing for an engine that does not
   * count tokens.
   */
  readonly contextTokens?: number;
  /**
   * Asks the model's server for the limit. Called for a conversation that is longer than `contextTokens`. Missing for an engine whose limit is
   * final. Rejects only with the reason of the signal.
   */
  readonly learnContextTokens?: (signal: AbortSignal) => Promise<number>;
  /** True if a chat shows the `reasoning` of this engine without a request for it. */
  readonly showsReasoning?: boolean;
  /** The mode to ask when this engine fails before the first chunk of its reply. */
  readonly fallback?: string | null;
  /**
   * Streams the reply. Rejects with a `ParleyError` (`ENGINE_FAILED`, `ENGINE_TIMEOUT`, `RATE_LIMITED`, `UNAVAILABLE`), or with the reason
   * of the signal after it has fired. An engine limits its waits for others itself (`ENGINE_TIMEOUT`). An offline engine gives equal replies
   * to equal contexts; other engines need not.
   */
  reply(context: EngineContext, options: { readonly signal: AbortSignal }): AsyncIterable<EngineEvent>;
}
